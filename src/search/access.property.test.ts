/** A caller who may read a part of an index finds what an index of that part alone would give, in the same order. */
import { afterAll, beforeAll, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { findsOnlyWhatIsSeen, type TwoIndexes, WORDS } from '../../test/search/found-by-whom.ts';
import { type EmbeddingServer, embeddingServer } from '../../test/tools/embedding-server.ts';
import type { AccessPolicy } from '../core/access.ts';
import { type AccessRules, rulesPolicy } from '../layers/access/index.ts';
import type { EmbeddingOptions } from './embeddings.ts';
import { createIndex } from './index.ts';

async function twoIndexes(embeddings?: EmbeddingOptions): Promise<TwoIndexes> {
  const [one, other] = [await temporaryFolder({}), await temporaryFolder({})];
  return {
    one: createIndex({ folder: one.path, embeddings }),
    other: createIndex({ folder: other.path, embeddings }),
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

/** Decides as the rules do, and says nothing in advance about its decisions. */
const opaque = (policy: AccessPolicy): AccessPolicy => ({
  name: 'opaque',
  attributes: false,
  decide: (request) => policy.decide(request),
});

let server: EmbeddingServer;
beforeAll(async () => {
  server = await embeddingServer(WORDS.map((word, at) => [word, WORDS[(at + 1) % WORDS.length] ?? '']));
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

it.each([
  ['rules', (given: AccessRules) => given, 12, false],
  ['a policy of its own', (given: AccessRules) => opaque(rulesPolicy(given)), 6, false],
  ['rules, by meaning, too', (given: AccessRules) => given, 8, true],
] as const)(
  'a search finds only what its caller may read, and its results tell nothing of the rest, under %s',
  async (_name, accessOf, runs, byMeaning) =>
    findsOnlyWhatIsSeen(() => twoIndexes(byMeaning ? { url: server.url, model: 'm' } : undefined), accessOf, runs),
);
