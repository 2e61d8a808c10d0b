/** Random requests about the things. */
import fc from 'fast-check';
import { SPELLINGS } from './spellings.ts';
import { type MountName, THINGS } from './things.ts';

export interface Ref {
  /** The index of a thing. */
  readonly thing: number;
  readonly spelling: string;
  readonly loudMount: boolean;
}

/** Requests for a resource by its URI. */
export const WAYS = [
  'resources/read',
  'a window',
  'resources/metadata',
  'resources/list',
  'resources/directory/read',
  'resources/subscribe',
  'tool list',
  'tool describe',
  'tool read',
  'tool read_embedded',
  'tool search',
] as const;
export type Way = (typeof WAYS)[number];

export const LISTS = [
  'resources/list',
  'resources/templates/list',
  'tools/list',
  'prompts/list',
  'tool list',
  'tool list_templates',
  'tool search text',
  'tool search names',
] as const;
export type List = (typeof LISTS)[number];

/** The tools that are called. `roll` and `wipe` belong to no mount, the others to careless servers. */
export const TOOLS = ['roll', 'wipe', 'embed', 'fetch', 'delete/page', 'list/all'] as const;
export const PROMPTS = ['greet-p01z', 'hush-p02z', 'brief', 'tell', 'ask/twice'] as const;

export type Question =
  | { readonly kind: 'way'; readonly way: Way; readonly ref: Ref }
  | { readonly kind: 'list'; readonly list: List }
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly ofUp: boolean;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'prompt' | 'complete prompt'; readonly prompt: string; readonly ofUp: boolean }
  | {
      readonly kind: 'complete';
      readonly mount: MountName;
      readonly template: number;
      readonly typed: string;
      /** Whether the second variable is completed, if there are two. */
      readonly later: boolean;
      /** The value of the first variable in that case; empty if it is not known. */
      readonly known: string;
    }
  | { readonly kind: 'updates' };

function refTo(focus: MountName): fc.Arbitrary<Ref> {
  const all = THINGS.map((_, index) => index);
  const focused = all.filter((index) => THINGS[index]?.mount === focus);
  return fc.record({
    thing: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...focused) },
      { weight: 1, arbitrary: fc.constantFrom(...all) },
    ),
    spelling: fc.oneof(
      { weight: 1, arbitrary: fc.constant('as it is') },
      { weight: 2, arbitrary: fc.constantFrom(...SPELLINGS) },
    ),
    loudMount: fc.integer({ min: 0, max: 5 }).map((each) => each === 5),
  });
}

const VALUES: readonly unknown[] = [
  'http://169.254.169.254/latest/x',
  'HTTP://169.254.169.254/',
  ['private.txt'],
  'private.txt',
  'PRIVATE.txt',
  { deep: ['a/secret/b'] },
  13,
  '13',
  true,
  'true',
  null,
  'open',
];

export const questionsAbout = (focus: MountName): fc.Arbitrary<readonly Question[]> =>
  fc.array(questionAbout(focus), { minLength: 1, maxLength: 10 });

const questionAbout = (focus: MountName): fc.Arbitrary<Question> =>
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({ kind: fc.constant('way' as const), way: fc.constantFrom(...WAYS), ref: refTo(focus) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('list' as const), list: fc.constantFrom(...LISTS) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('call' as const),
        tool: fc.constantFrom(...TOOLS),
        ofUp: fc.boolean(),
        arguments: fc.oneof(
          fc.constant({}),
          fc.constantFrom(...VALUES).map((url) => ({ url })),
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('prompt' as const, 'prompt' as const, 'complete prompt' as const),
        prompt: fc.constantFrom(...PROMPTS),
        ofUp: fc.boolean(),
      }),
    },
    {
      weight: focus === 'data' ? 6 : 3,
      arbitrary: fc.record({
        kind: fc.constant('complete' as const),
        mount: fc.constant(focus),
        template: fc.nat({ max: 2 }),
        typed: fc.constantFrom(
          ...(focus === 'data' ? ['', '', 'zz', 'k', 'b'] : ['', '', 'p', 's', 'k', 'secret/', 'pub/', 'e']),
        ),
        later: fc.boolean(),
        known: fc.constantFrom(...(focus === 'data' ? ['eu', 'us', 'zz', ''] : ['pub', 'secret', ''])),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'updates' as const }) },
  );
