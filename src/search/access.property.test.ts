/** Whoever may read a part of what is in an index finds what an index of that part alone would give, in the same order. */
import { it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { findsOnlyWhatIsSeen, type TwoIndexes } from '../../test/search/found-by-whom.ts';
import type { AccessPolicy } from '../core/access.ts';
import { type AccessRules, rulesPolicy } from '../layers/access/index.ts';
import { createIndex } from './index.ts';

async function twoIndexes(): Promise<TwoIndexes> {
  const [one, other] = [await temporaryFolder({}), await temporaryFolder({})];
  return {
    one: createIndex({ folder: one.path }),
    other: createIndex({ folder: other.path }),
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

/** Decides as the rules do, and says of nothing why. */
const opaque = (policy: AccessPolicy): AccessPolicy => ({
  name: 'opaque',
  attributes: false,
  decide: (request) => policy.decide(request),
});

it.each([
  ['rules', (given: AccessRules) => given, 12],
  ['a policy of its own', (given: AccessRules) => opaque(rulesPolicy(given)), 6],
] as const)(
  'finds nothing that is not to be known, and tells nothing of it by what is found, under %s',
  async (_name, accessOf, runs) => findsOnlyWhatIsSeen(twoIndexes, accessOf, runs),
);
