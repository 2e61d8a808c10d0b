/** A caller who may read only a part of an index finds what an index of that part alone gives, in the same order. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { AccessPolicy } from '../../src/core/access.ts';
import { createContext } from '../../src/core/context.ts';
import type { CompletionValues } from '../../src/core/provider.ts';
import type { RankedIndex } from '../../src/core/ranked.ts';
import { type AccessRule, type AccessRules, rulesPolicy } from '../../src/layers/access/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type Engine, engineOf, structured, textOf } from '../tools/engine.ts';

/** The words in the texts. */
export const WORDS = ['clock', 'brass', 'spring', 'key', 'oak', 'bell'];
const FOLDERS = ['a', 'b', 'c'];
const QUESTIONS = [
  'clock',
  'brass key',
  '"oak bell"',
  'spr*',
  'bell clock oak',
  'NEAR(key spring, 4)',
  'clock type:plain',
];

/** A long time limit, because completions are compared as a whole. */
const PATIENCE_MS = 60_000;

/** Beginnings of words of titles and names. No path begins with them. */
const TYPED = ['clo', 'bra', 'oak b', 'key spring', 'a/be', '1.txt'];

const texts = fc.array(
  fc.record({
    folder: fc.constantFrom(...FOLDERS),
    words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 }),
  }),
  { minLength: 2, maxLength: 14 },
);

const rule: fc.Arbitrary<AccessRule> = fc
  .record(
    {
      effect: fc.constantFrom<AccessRule['effect']>('allow', 'deny', 'hide', 'ask'),
      who: fc.constantFrom<NonNullable<AccessRule['who']>>({ subjects: ['ann'] }, 'anyone', { groups: ['staff'] }),
      uris: fc.subarray(
        [...FOLDERS.map((folder) => `m+memory:///${folder}/**`), 'm+memory:///*/1*.txt', 'm+memory:///**'],
        { minLength: 1 },
      ),
    },
    { requiredKeys: ['effect', 'uris'] },
  )
  .map((each): AccessRule => (each.effect === 'ask' ? { ...each, operations: ['read'] } : each));

/** Everybody may request completions; the test is about the offered values. */
const COMPLETE: AccessRule = { effect: 'allow', operations: ['complete'] };

const rules: fc.Arbitrary<AccessRules> = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }).map((each) => [COMPLETE, ...each]),
  default: fc.constantFrom('allow', 'deny', 'hide'),
});

const CALLERS = [{ id: 'ann', subject: 'ann' }, { id: 'bob', subject: 'bob', groups: ['staff'] }, { id: 'anonymous' }];

/** A case in which a caller may see two of three texts, so that something is found at least once. */
const SEEN = [
  [
    { folder: 'a', words: ['clock'] },
    { folder: 'a', words: ['clock', 'brass'] },
    { folder: 'b', words: ['clock'] },
  ],
  { rules: [COMPLETE, { effect: 'allow', uris: ['m+memory:///a/**'] }], default: 'deny' },
  CALLERS[2],
] as const;

interface Answer {
  readonly places: readonly unknown[];
  readonly text: string;
}

async function answers(engine: Engine, principal: (typeof CALLERS)[number]): Promise<readonly Answer[]> {
  const given: Answer[] = [];
  for (const pattern of QUESTIONS) {
    let cursor: string | undefined;
    do {
      const args = { pattern, mode: 'ranked', ...(cursor !== undefined && { cursor }) };
      const result = await engine.call('search', args, { principal });
      const { matches = [], nextCursor } = structured<{ matches?: unknown[]; nextCursor?: string }>(result) ?? {};
      // Cursors are sealed, and differ each time.
      given.push({ places: matches, text: textOf(result).replace(/cursor "[^"]*"/, 'cursor') });
      cursor = nextCursor;
    } while (cursor !== undefined);
  }
  return given;
}

/** The offers for each caller, or the reason why there are none. */
function offers(engine: Engine, principal: (typeof CALLERS)[number]): Promise<readonly (CompletionValues | string)[]> {
  const ctx = createContext({ principal });
  const known = { uriTemplate: 'm+memory:///{+path}', variable: 'path', known: {}, limit: 100 };
  const offered = TYPED.map(
    async (value) => (await engine.vitrine.provider.complete?.({ ...known, value }, ctx)) ?? 'nothing is completed',
  );
  return Promise.all(offered.map((each) => each.catch(String)));
}

export interface TwoIndexes extends AsyncDisposable {
  readonly one: RankedIndex;
  readonly other: RankedIndex;
}

/** @param twoIndexes gives two empty indexes for each run */
export async function findsOnlyWhatIsSeen(
  twoIndexes: () => Promise<TwoIndexes>,
  accessOf: (given: AccessRules) => AccessPolicy | AccessRules,
  runs: number,
): Promise<void> {
  let seenSome = 0;
  let offeredSome = 0;
  await fc.assert(
    fc.asyncProperty(texts, rules, fc.constantFrom(...CALLERS), async (all, given, principal) => {
      const resources = Object.fromEntries(
        all.map(({ folder, words }, at) => [
          `${folder}/${at}.txt`,
          { text: words.join(' '), title: words.slice(0, 2).join(' ') },
        ]),
      );
      const policy = rulesPolicy(given);
      const mayRead = (path: string): boolean =>
        (['read', 'metadata'] as const).every((operation) => {
          const uri = `m+memory:///${path}`;
          return policy.decide({ principal, operation, uri, mount: 'm' }).effect === 'allow';
        });
      const seen = Object.fromEntries(Object.entries(resources).filter(([path]) => mayRead(path)));
      await using indexes = await twoIndexes();
      const common = { access: accessOf(given), limits: { completionMs: PATIENCE_MS } };
      await using whole = engineOf({ m: memoryProvider({ resources }) }, { ...common, index: indexes.one });
      await using part = engineOf({ m: memoryProvider({ resources: seen }) }, { ...common, index: indexes.other });
      await Promise.all([whole.vitrine.ranked?.settled(), part.vitrine.ranked?.settled()]);
      const found = await answers(whole, principal);
      if (found.some(({ places }) => places.length > 1)) seenSome++;
      expect(found).toEqual(await answers(part, principal));
      const offered = await offers(whole, principal);
      if (offered.some((each) => typeof each !== 'string' && each.values.length > 1)) offeredSome++;
      expect(offered).toEqual(await offers(part, principal));
    }),
    { numRuns: runs, endOnFailure: true, examples: [SEEN as never] },
  );
  expect(seenSome).toBeGreaterThan(0);
  // Only rules say in advance what a caller may read. With any other policy, no titles and names are offered.
  expect(offeredSome > 0).toBe('rules' in accessOf(SEEN[1]));
}
