/** Small cases that failed once. They run before all random cases. */
import type { Case } from './cases.ts';
import type { Question, Way } from './questions.ts';
import type { Rule } from './reference.ts';
import { type MountName, THINGS } from './things.ts';

const example = (
  mounts: readonly MountName[],
  rule: Rule,
  questions: readonly Question[],
  otherwise: Case['rules']['default'] = 'allow',
): [Case] => [
  { mounts, rules: { rules: [rule], default: otherwise }, person: 0, era: 'modern', pageSize: 100, questions },
];

function asking(way: Way, mark: string, spelling: string): Question {
  const thing = THINGS.findIndex(({ listedAs }) => listedAs.includes(mark));
  return { kind: 'way', way, ref: { thing, spelling, loudMount: false } };
}

const completing = (mount: MountName, template: number): Question => ({
  kind: 'complete',
  mount,
  template,
  typed: '',
  later: false,
  known: '',
});

const calling = (tool: string, ofUp: boolean, args: Readonly<Record<string, unknown>> = {}): Question => ({
  kind: 'call',
  tool,
  ofUp,
  arguments: args,
});

export const EXAMPLES: readonly [Case][] = [
  // A mount without a prefix, which may have any URI, comes first.
  example(['raw', 'docs'], { effect: 'hide', mounts: ['docs'] }, [
    asking('resources/read', '-d03z', 'as it is'),
    { kind: 'list', list: 'resources/list' },
  ]),
  // A server that decodes URIs and resolves `..` in them.
  ...['an escaped letter in a folder', 'localhost', 'one slash', 'a dot', 'four slashes', 'an escaped slash'].map(
    (spelling) =>
      example(['docs', 'up'], { effect: 'hide', uris: ['up+file:///srv/secret/**'] }, [
        asking('resources/read', '-u02z', spelling),
      ]),
  ),
  ...['escaped dots', 'dots escaped twice', 'dots before an escaped slash', 'dots from elsewhere'].map((spelling) =>
    example(
      ['docs', 'up'],
      { effect: 'allow', uris: ['up+file:///srv/pub/**'] },
      [asking('resources/read', '-u02z', spelling)],
      'deny',
    ),
  ),
  // Names with characters that have a meaning in URIs or globs.
  ...['we (ird)^x', 'br[x]{y,z}', '!bang+|', '\u00e9t\u00e9'].map((folder) =>
    example(['docs'], { effect: 'deny', uris: [`docs+memory:///${folder}/**`] }, [
      ...THINGS.flatMap(({ mount, inUri }) =>
        mount === 'docs' && inUri.startsWith('-d') ? [asking('resources/read', inUri, 'as it is')] : [],
      ),
    ]),
  ),
  example(['docs', 'up'], { effect: 'hide', tools: ['up_delete*'] }, [calling('delete/page', true)]),
  example(['docs'], { effect: 'deny', arguments: { url: ['http://169.254.*'] } }, [
    calling('roll', false, { url: 'http://169.254.169.254/latest/x' }),
  ]),
  example(['docs'], { effect: 'deny', arguments: { url: ['private.txt'] } }, [
    calling('roll', false, { url: ['private.txt'] }),
  ]),
  // Resources in results of tools and prompts.
  example(['docs', 'up'], { effect: 'hide', uris: ['up+memo:hidden*'] }, [
    calling('embed', true),
    { kind: 'prompt', prompt: 'brief', ofUp: true },
  ]),
  // Names and keys that lead to hidden resources.
  example(['docs'], { effect: 'hide', uris: ['docs+memory:///secret/**'] }, [completing('docs', 0)]),
  example(['docs', 'notes'], { effect: 'hide', uris: ['note:///shut'] }, [completing('notes', 0)]),
  ...(['hide', 'deny'] as const).map((effect) =>
    example(['docs', 'up'], { effect, uris: ['up+file:///srv/secret/**'] }, [completing('up', 2)]),
  ),
  example(['docs', 'data'], { effect: 'hide', uris: ['data+sqlite:///people/*@y.test'] }, [completing('data', 0)]),
  example(['docs', 'data'], { effect: 'hide', uris: ['data+sqlite:///parts/zz,*'] }, [completing('data', 1)]),
  // Prompts of a folder in a mount.
  example(
    ['docs'],
    { effect: 'allow', mounts: ['docs'] },
    [
      { kind: 'list', list: 'prompts/list' },
      { kind: 'prompt', prompt: 'greet-p01z', ofUp: false },
    ],
    'hide',
  ),
  // Pages of tables, and search results in them.
  example(['docs', 'data'], { effect: 'hide', uris: ['data+sqlite:///people/bob*'] }, [
    { kind: 'list', list: 'tool search text' },
  ]),
];
