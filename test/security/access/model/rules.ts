/** Random rules about the things. */
import fc from 'fast-check';
import type { Rule, Rules } from './reference.ts';
import { MOUNT_NAMES, type MountName, THINGS } from './things.ts';

const some = <T>(values: readonly T[], most = 2): fc.Arbitrary<readonly T[]> =>
  fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: most });

/** A glob for a folder and everything below it, as people write it. */
const WRITTEN: readonly string[] = [
  '**',
  'docs+**',
  'data+**',
  'up+**',
  'up+file:**',
  'file:**',
  'file:///**',
  'note:**',
  'docs+memory:///*',
  'docs+memory:///we (ird)^x/**',
  'docs+memory:///été/**',
  'docs+memory:///e\u0301te\u0301/*',
  'docs+memory:///br[x]{y,z}/**',
  'docs+memory:///br\\[x\\]\\{y,z\\}/**',
  'docs+memory:///!bang+|/**',
  'docs+memory:///100%25/*',
  'docs+memory:///{secret,pub}/**',
  'docs+memory:///[ps]*/**',
  'docs+memory:///**/deep/**',
  'docs+memory:///s?cret/*.txt',
  'docs+memory:///secret**',
  'docs+memory:///prompts/**',
  'note:///shut/**',
  'data+sqlite:///people/**',
  'data+sqlite:///people/bob*',
  'data+sqlite:///people/*@y.test',
  'data+sqlite:///parts/zz,*',
  'data+sqlite:///parts/eu,k-r04z',
  'data+sqlite:///*',
  'up+file:///srv/pub/**',
  'up+file:///srv/secret/**',
  'up+file:///srv/*/*.txt',
  'up+https://wiki.example/**',
  'up+https://Wiki.Example/**',
  'up+memo:*',
  'up+memo:hidden*',
  'ui://up+**',
  'file:///srv/pub/**',
  'file:///srv/secret/**',
  'memo:**',
  'https://wiki.example/*/*',
];

/** The mount whose URIs begin like the glob. */
const isAbout = (focus: MountName, glob: string): boolean =>
  THINGS.some(({ mount, uri }) => mount === focus && glob.slice(0, 8) === uri.slice(0, 8));

const literal = (uri: string): string => uri.replace(/[*?[\]{}\\]/g, '\\$&');

function uriGlobs(focus: MountName) {
  const things = THINGS.filter(({ mount }) => mount === focus);
  const folders = things.flatMap(({ parents }) => parents);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...WRITTEN.filter((glob) => isAbout(focus, glob))) },
    { weight: 2, arbitrary: fc.constantFrom(...things.map(({ uri }) => literal(uri))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...[...folders, things[0]?.uri ?? ''].map((uri) => `${literal(uri.replace(/\/$/, ''))}/**`),
      ),
    },
    { weight: 1, arbitrary: fc.constantFrom(...WRITTEN) },
  );
}

const optional = <T>(arbitrary: fc.Arbitrary<T>, freq = 3) => fc.option(arbitrary, { nil: undefined, freq });

const about = {
  effect: fc.constantFrom('allow', 'hide', 'deny', 'allow', 'hide', 'ask') as fc.Arbitrary<Rule['effect']>,
  who: optional(
    fc.constantFrom('anyone', 'anonymous', 'authenticated', { groups: ['staff'] }) as fc.Arbitrary<
      NonNullable<Rule['who']>
    >,
    1,
  ),
};

const mounts = some(MOUNT_NAMES);
const operationsOf = (effect: Rule['effect'], all: readonly NonNullable<Rule['operations']>[number][]) =>
  effect === 'ask' ? all.filter((each) => each === 'read' || each === 'call' || each === 'prompt') : all;

const RESOURCE_OPERATIONS = ['list', 'read', 'metadata', 'subscribe', 'complete'] as const;

function resourceRule(focus: MountName) {
  const uriGlob = uriGlobs(focus);
  // A glob of `except` has no brackets or braces, so it is not ambiguous.
  const exception = uriGlob.filter((glob) => !/[[{]/.test(glob));
  return fc.record({
    ...about,
    operations: optional(some(RESOURCE_OPERATIONS, 3), 1),
    mounts: optional(mounts, 1),
    uris: optional(fc.array(uriGlob, { minLength: 1, maxLength: 2 }), 6),
    except: optional(fc.array(exception, { minLength: 1, maxLength: 2 }), 1),
    mimeTypes: optional(fc.constantFrom(['text/plain'], ['text/*'], ['application/*', 'text/markdown']), 1),
  });
}

const argumentsOf = fc.constantFrom<NonNullable<Rule['arguments']>>(
  { url: ['http://169.254.*'] },
  { url: ['private*'] },
  { url: ['private.txt'] },
  { url: ['*secret*'] },
  { url: [13, true] },
  { url: ['13'] },
);

const toolRule = fc.record({
  ...about,
  mounts: optional(mounts, 1),
  tools: optional(
    some([
      'up_delete*',
      'delete*',
      'up_*',
      '*embed',
      'roll',
      'wip?',
      'at_search',
      'up_list/all',
      '{roll,fetch}',
      'at_read*',
      'up_**',
    ]),
    5,
  ),
  arguments: optional(argumentsOf),
});

const promptRule = fc.record({
  ...about,
  mounts: optional(mounts, 1),
  prompts: some(['greet*', 'hush-p02z', 'up_*', 'brief', '*ask*', 'up_ask*', '*']),
});

const mountRule = fc.record({
  ...about,
  mounts,
  operations: optional(some([...RESOURCE_OPERATIONS, 'call', 'prompt'] as const, 4), 1),
});

const anyRule = fc.record(about);

/** Removes properties that are undefined, and operations that cannot be asked about. */
const ruleAbout = (focus: MountName): fc.Arbitrary<Rule> =>
  fc
    .oneof(
      { weight: 6, arbitrary: resourceRule(focus) },
      { weight: 2, arbitrary: toolRule },
      { weight: 1, arbitrary: promptRule },
      { weight: 3, arbitrary: mountRule },
      { weight: 1, arbitrary: anyRule },
    )
    .map(
      (given) =>
        Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as unknown as Rule,
    )
    .filter(
      ({ effect, operations }) =>
        operations === undefined || operationsOf(effect, operations).length === operations.length,
    );

/** A list of allowing rules, and no others. */
const allowList = (focus: MountName): fc.Arbitrary<Rules> =>
  fc.record({
    rules: uriGlobs(focus).map((glob): readonly Rule[] => [{ effect: 'allow', uris: [glob] }]),
    default: fc.constantFrom('deny', 'hide'),
  });

/** Rules that forbid or allow calls by their arguments. */
const byArguments: fc.Arbitrary<Rules> = fc.record({
  rules: fc
    .tuple(fc.constantFrom('deny', 'hide', 'allow'), argumentsOf)
    .map(([effect, wanted]): readonly Rule[] => [{ effect, arguments: wanted }]),
  default: fc.constantFrom('allow', 'deny'),
});

export const rulesAbout = (focus: MountName): fc.Arbitrary<Rules> =>
  fc.oneof(
    { weight: 6, arbitrary: anyRules(focus) },
    { weight: 1, arbitrary: allowList(focus) },
    { weight: 1, arbitrary: byArguments },
  );

const anyRules = (focus: MountName): fc.Arbitrary<Rules> =>
  fc.record({
    rules: fc.array(ruleAbout(focus), { minLength: 1, maxLength: 4 }),
    default: fc.constantFrom('allow', 'deny', 'hide', 'allow') as fc.Arbitrary<Rules['default']>,
  });
