/** Two principals over HTTP: one sends many requests for a shared resource, the other one sends a few. */
import { expect } from 'vitest';
import { wrapProvider } from '../../src/core/layer.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import type { Era } from '../e2e/harness.ts';
import { messageOf } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { type Ask, asker, type Outcome, serveWith } from './usage.ts';

export interface Neighbours extends AsyncDisposable {
  readonly ann: Ask;
  readonly bob: Ask;
  /** Sends these requests as Ann at the same time. Gives the answers as they come. */
  flood(uris: readonly string[]): Promise<Flood>;
}

export interface Flood {
  readonly answered: readonly Outcome[];
  /** Resolves with all answers. */
  readonly over: Promise<readonly Outcome[]>;
}

/** Serves a provider without a prefix, and without limits on the requests of one principal. */
export async function neighbours(
  era: Era,
  provider: ResourceProvider,
  more: Parameters<typeof serveWith>[1] = {},
): Promise<Neighbours> {
  const limits = { maxConcurrent: 5_000, maxConcurrentPerPrincipal: 2_000, rates: { principal: 'off', client: 'off' } };
  let arrived = 0;
  const counted = wrapProvider(provider, {
    read(uri, want, ctx) {
      arrived++;
      return provider.read(uri, want, ctx);
    },
  });
  const used = await serveWith(limits, { mounts: [{ name: 'shared', provider: counted, prefix: 'none' }], ...more });
  const [ann, bob] = [await asker(used.url, era, 'ann'), await asker(used.url, era, 'bob')];
  let floods: Promise<unknown> = Promise.resolve();
  return {
    ann,
    bob,
    async flood(uris) {
      const answered: Outcome[] = [];
      const before = arrived;
      const over = Promise.all(
        uris.map(async (uri) => {
          const outcome = await ann('resources/read', { uri });
          answered.push(outcome);
          return outcome;
        }),
      );
      over.catch(() => {});
      floods = Promise.all([floods, over.catch(() => {})]);
      await until(() => arrived - before >= uris.length, 'the flood to arrive');
      return { answered, over };
    },
    async [Symbol.asyncDispose]() {
      // When the provider closes, its work ends, and so does the flood.
      await provider.close?.();
      await floods;
      await used[Symbol.asyncDispose]();
    },
  };
}

/** The texts of a read, one of each format. Fails with the error of the read. */
export function textsOf({ response }: Outcome): readonly string[] {
  const { result, error } = messageOf(response);
  expect(error).toBeUndefined();
  const { contents = [] } = (result ?? {}) as { readonly contents?: readonly { readonly text?: string }[] };
  return contents.map(({ text = '' }) => text);
}

export const textOf = (outcome: Outcome): string => textsOf(outcome).join('\n');

/** The error of an answer that says that there was no room, and when to try again. */
export const NO_PLACE = (limit: string) => ({
  code: -32_603,
  data: { reason: 'limited', retryable: true, limit, retryAfterMs: expect.any(Number) },
});
