import { describe, expect, it } from 'vitest';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { ANONYMOUS, createContext, type Principal } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { innerProvider, RESOURCE, URI } from '../../testing/layer-law.ts';
import { EVERYTHING } from '../../testing/observe.ts';
import { type Budget, createBudget } from './budget.ts';
import { createLimits, limitsLayer } from './index.ts';

layerContract('limits', createLimits().layer);

const KIB = 1024;
const ctx = createContext();
const ann: Principal = { id: 'ann' };

/** A provider with bodies of these sizes. A negative size is unknown in advance. */
function scene(
  sizes: readonly number[],
  maxBytes = 1_000 * KIB,
): { budget: Budget; provider: ResourceProvider; closed: () => number } {
  let closed = 0;
  const bodies = (): ResourceBody[] =>
    sizes.map((size) => ({
      resource: RESOURCE,
      content: {
        kind: 'stream',
        size: size < 0 ? undefined : size,
        async *open() {
          yield new Uint8Array(Math.abs(size));
        },
      },
      close: async () => void closed++,
    }));
  const budget = createBudget({ maxBytes, maxWaiting: 0 });
  return { budget, provider: limitsLayer(budget, () => () => {})(innerProvider({ bodies })), closed: () => closed };
}

const drain = async (body: ResourceBody): Promise<void> => {
  for await (const _chunk of chunksOf(body.content));
};

describe('the memory of reads [RES-7]', () => {
  it('is held until the last body has been drained', async () => {
    const { budget, provider } = scene([200 * KIB, 100 * KIB]);
    const bodies = await provider.read(URI, EVERYTHING, ctx);
    expect(budget.held).toBe(300 * KIB);
    for (const body of bodies) {
      expect(budget.held).toBe(300 * KIB);
      await drain(body);
    }
    expect(budget.held).toBe(0);
    await closeBodies(bodies);
    expect(budget.held).toBe(0);
  });

  it('is returned by a caller that closes unread bodies', async () => {
    const { budget, provider, closed } = scene([200 * KIB, 100 * KIB]);
    await closeBodies(await provider.read(URI, EVERYTHING, ctx));
    expect([budget.held, closed()]).toEqual([0, 2]);
  });

  it("counts the requested window, and for an unknown size the caller's maximum", async () => {
    const window = scene([500 * KIB]);
    const part = { ...EVERYTHING, range: { offset: 10, length: 100 * KIB } };
    const bodies = await window.provider.read(URI, part, ctx);
    expect(window.budget.held).toBe(100 * KIB);
    await closeBodies(bodies);
    const unknown = scene([-1]);
    const all = await unknown.provider.read(URI, { maxBytes: 300 * KIB, maxChildren: 1 }, ctx);
    expect(unknown.budget.held).toBe(300 * KIB);
    await closeBodies(all);
  });

  it('does not include small contents', async () => {
    const { budget, provider } = scene([30 * KIB, 30 * KIB]);
    const bodies = await provider.read(URI, EVERYTHING, ctx);
    expect(budget.held).toBe(0);
    await closeBodies(bodies);
  });

  it('is refused if there is none, and then no body stays open', async () => {
    const { budget, provider, closed } = scene([600 * KIB]);
    const first = await provider.read(URI, EVERYTHING, ctx);
    await expect(provider.read(URI, EVERYTHING, ctx)).rejects.toMatchObject({
      code: 'limited',
      details: { limit: 'maxHeldBytes' },
    });
    expect(closed()).toBe(1);
    await closeBodies(first);
    expect(budget.held).toBe(0);
  });
});

describe('concurrent requests', () => {
  const hanging = () => {
    const ends: (() => void)[] = [];
    return {
      work: () => new Promise<void>((resolve) => ends.push(resolve)),
      end: () => ends.splice(0).map((one) => one()),
    };
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const READ = { method: 'resources/read', uri: URI };

  it('are limited for each principal, and in total; a refused request runs nothing, and is reported', async () => {
    const refused: unknown[] = [];
    const { admission, close } = createLimits({ maxConcurrent: 3, maxConcurrentPerPrincipal: 2 }, (...all) =>
      refused.push(all),
    );
    const { work, end } = hanging();
    const own = createContext({ principal: ann });
    const running = [admission.run(READ, own, work), admission.run(READ, own, work)];
    await settle();
    let ran = false;
    const run = async () => {
      ran = true;
    };
    await expect(admission.run(READ, own, run)).rejects.toMatchObject({
      code: 'limited',
      details: { limit: 'maxConcurrentPerPrincipal', retryAfterMs: 1_000 },
    });
    running.push(admission.run(READ, createContext(), work));
    await settle();
    await expect(admission.run(READ, createContext(), run)).rejects.toMatchObject({
      details: { limit: 'maxConcurrent' },
    });
    expect(ran).toBe(false);
    expect(refused).toEqual([
      [READ, own, expect.objectContaining({ code: 'limited' })],
      [READ, expect.anything(), expect.objectContaining({ code: 'limited' })],
    ]);
    end();
    await Promise.all(running);
    await admission.run(READ, own, run);
    expect(ran).toBe(true);
    close();
  });

  it('that go on take a place again, and count in no rate', async () => {
    const { admission, close } = createLimits({ maxConcurrent: 1, rates: { principal: '1/h' } });
    const own = createContext({ principal: ann });
    const done = async () => 'done';
    expect(await admission.run(READ, own, done)).toBe('done');
    for (let turn = 0; turn < 3; turn++) expect(await admission.run(READ, own, done, true)).toBe('done');
    await expect(admission.run(READ, own, done)).rejects.toMatchObject({ details: { limit: 'rates.principal' } });
    const { work, end } = hanging();
    const running = admission.run(READ, createContext(), work);
    await settle();
    await expect(admission.run(READ, own, done, true)).rejects.toMatchObject({ details: { limit: 'maxConcurrent' } });
    end();
    await running;
    close();
  });

  it('are no longer counted after a failure', async () => {
    const { admission, close } = createLimits({ maxConcurrent: 1 });
    const fail = () => Promise.reject(new Error('no'));
    for (let turn = 0; turn < 3; turn++) await expect(admission.run(READ, ctx, fail)).rejects.toThrow('no');
    close();
  });
});

describe('subscriptions, sessions and streams [SEC-RES-4]', () => {
  it.each([
    ['subscriptions', 'maxSubscriptionsPerPrincipal'],
    ['sessions', 'maxSessionsPerPrincipal'],
    ['streams', 'maxStreamsPerPrincipal'],
  ] as const)('%s have a limit for each principal, and each gives its place back once', (what, limit) => {
    const { admission } = createLimits({ [limit]: 2 });
    const first = admission.hold(what, ann);
    admission.hold(what, ann);
    expect(() => admission.hold(what, ann)).toThrow(
      expect.objectContaining({ code: 'limited', details: { limit, retryAfterMs: 60_000 } }),
    );
    admission.hold(what, { id: 'bob' });
    first();
    first();
    admission.hold(what, ann);
    expect(() => admission.hold(what, ann)).toThrow();
  });

  it('of anonymous callers count in total only, unless others are authenticated', () => {
    const open = createLimits({ maxSubscriptions: 3, maxSubscriptionsPerPrincipal: 1 });
    for (let count = 0; count < 3; count++) open.admission.hold('subscriptions', ANONYMOUS);
    expect(() => open.admission.hold('subscriptions', ANONYMOUS)).toThrow(
      expect.objectContaining({ details: { limit: 'maxSubscriptions', retryAfterMs: 60_000 } }),
    );
    const among = createLimits({ maxSubscriptionsPerPrincipal: 1, anonymousIsOne: true });
    among.admission.hold('subscriptions', ANONYMOUS);
    expect(() => among.admission.hold('subscriptions', ANONYMOUS)).toThrow();
  });
});
