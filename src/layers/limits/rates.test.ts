import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ANONYMOUS, type Principal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createRates, type RateOptions, type Rates } from './rates.ts';

// Loads the library before the clock stands still: rates load it when they first count.
beforeAll(async () => void (await import('rate-limiter-flexible')));
beforeEach(
  () => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
);
afterEach(() => {
  expect(vi.getTimerCount(), 'timers that are left').toBe(0);
  vi.useRealTimers();
});

const OFF: RateOptions = {
  principal: 'off',
  client: 'off',
  methods: { 'tools/call': 'off', 'completion/complete': 'off' },
};
const ann: Principal = { id: 'ann' };
const bob: Principal = { id: 'bob' };
const READ = { method: 'resources/read' };

/** A number of requests of one principal at the same time, or a time that passes. */
type Step = { readonly who: number; readonly times: number; readonly atOnce: boolean } | { readonly laterMs: number };

/** Runs a function with rates, and closes them at the end. */
async function rated(
  options: RateOptions,
  use: (rates: Rates) => Promise<void>,
  anonymousIsOne = false,
  maxKeys = 100,
): Promise<void> {
  const rates = createRates({ rates: options, anonymousIsOne, maxKeys });
  try {
    await use(rates);
  } finally {
    rates.close();
  }
}

/** Gives how many of the requests pass, and the last error. */
async function pass(count: number, take: () => Promise<void>): Promise<{ passed: number; error: unknown }> {
  let passed = 0;
  let error: unknown;
  for (let turn = 0; turn < count; turn++) {
    await take().then(
      () => passed++,
      (refused: unknown) => {
        error = refused;
      },
    );
  }
  return { passed, error };
}

describe('rates [SEC-TOOL-2]', () => {
  it('let a number of requests of one principal pass, give the time of the next one, and let requests pass again then', () =>
    rated({ ...OFF, principal: '3/min' }, async (rates) => {
      vi.advanceTimersByTime(5);
      const { passed, error } = await pass(5, () => rates.take(READ, ann));
      expect(passed).toBe(3);
      expect(error).toBeInstanceOf(ResourceError);
      expect(error).toMatchObject({ code: 'limited', retryable: true, details: { limit: 'rates.principal' } });
      const { retryAfterMs } = (error as ResourceError).details;
      expect(retryAfterMs).toBe(60_000);
      expect((await pass(3, () => rates.take(READ, bob))).passed).toBe(3);
      await vi.advanceTimersByTimeAsync(Number(retryAfterMs));
      expect((await pass(5, () => rates.take(READ, ann))).passed).toBe(3);
    }));

  it('have a default for authenticated principals, and none for anonymous callers', () =>
    rated({}, async (rates) => {
      expect((await pass(6_100, () => rates.take(READ, ann))).passed).toBe(6_000);
      expect((await pass(6_100, () => rates.take(READ, ANONYMOUS))).passed).toBe(6_100);
      expect((await pass(3_100, () => rates.take({ method: 'tools/call' }, ANONYMOUS))).passed).toBe(3_100);
      expect((await pass(3_100, () => rates.take({ method: 'tools/call' }, bob))).passed).toBe(3_000);
      expect((await pass(3_100, () => rates.take({ method: 'completion/complete' }, { id: 'c' }))).passed).toBe(3_000);
    }));

  it('of anonymous callers count all of them together', () =>
    rated({ ...OFF, anonymous: '2/s' }, async (rates) => {
      const { passed, error } = await pass(3, () => rates.take(READ, ANONYMOUS));
      expect(passed).toBe(2);
      expect(error).toMatchObject({ details: { limit: 'rates.anonymous' } });
    }));

  it('apply the rate of one principal to all anonymous callers, if others are authenticated', () =>
    rated(
      { ...OFF, principal: '2/s' },
      async (rates) => {
        expect((await pass(3, () => rates.take(READ, ANONYMOUS))).passed).toBe(2);
      },
      true,
    ));

  it('of a client count its requests for all principals', () =>
    rated({ ...OFF, client: '2/min' }, async (rates) => {
      const by = (id: string, clientId: string, issuer = 'https://a'): Principal => ({ id, clientId, issuer });
      await rates.take(READ, by('ann', 'app'));
      await rates.take(READ, by('bob', 'app'));
      await expect(rates.take(READ, by('cid', 'app'))).rejects.toMatchObject({ details: { limit: 'rates.client' } });
      await rates.take(READ, by('cid', 'other'));
      await rates.take(READ, by('cid', 'app', 'https://b'));
      await rates.take(READ, { id: 'cid' });
    }));

  it('of a method do not count other methods', () =>
    rated({ ...OFF, methods: { ...OFF.methods, 'resources/read': '1/min' } }, async (rates) => {
      await rates.take(READ, ann);
      await expect(rates.take(READ, ann)).rejects.toMatchObject({ details: { limit: 'rates.methods.resources/read' } });
      await rates.take({ method: 'resources/list' }, ann);
      await rates.take(READ, bob);
    }));

  it('of a tool count its calls, and nothing else', () =>
    rated({ ...OFF, tools: { search: '1/min' } }, async (rates) => {
      const call = (name: string) => rates.take({ method: 'tools/call', name }, ann);
      await call('search');
      await expect(call('search')).rejects.toMatchObject({ details: { limit: 'rates.tools.search' } });
      await call('read');
      await call('__proto__');
      await rates.take({ method: 'prompts/get', name: 'search' }, ann);
    }));

  it('count a limited number of principals, and the others as one: no new principal resets a count', () =>
    rated(
      { ...OFF, principal: '2/min' },
      async (rates) => {
        for (let index = 0; index < 5; index++) await rates.take(READ, { id: `p${index}` });
        await rates.take(READ, { id: 'late1' });
        await rates.take(READ, { id: 'late2' });
        await expect(rates.take(READ, { id: 'late3' })).rejects.toMatchObject({ code: 'limited' });
        await rates.take(READ, { id: 'p0' });
        await expect(rates.take(READ, { id: 'p0' })).rejects.toMatchObject({ code: 'limited' });
        await vi.advanceTimersByTimeAsync(60_000);
        await rates.take(READ, { id: 'late3' });
      },
      false,
      5,
    ));

  it('let requests pass at once where possible, and exactly as many as allowed', async () => {
    const some = { who: fc.nat(3), times: fc.integer({ min: 1, max: 4 }) };
    const step = fc.oneof(fc.record({ ...some, atOnce: fc.boolean() }), fc.record({ laterMs: fc.nat(1_500) }));
    const options = { ...OFF, principal: '5/s', methods: { ...OFF.methods, 'resources/read': '7/s' } };
    const request = async (rates: Rates, who: Principal, atOnce: boolean): Promise<boolean> => {
      const count = atOnce ? rates.atOnce(READ, who) : undefined;
      count?.();
      return count !== undefined || (await pass(1, () => rates.take(READ, who))).passed === 1;
    };
    const allOf = (rates: Rates, who: Principal, times: number, atOnce: boolean) =>
      Promise.all(Array.from({ length: times }, () => request(rates, who, atOnce)));
    const compare = async (own: Rates, plain: Rates, steps: readonly Step[]): Promise<void> => {
      for (const each of steps) {
        if ('laterMs' in each) await vi.advanceTimersByTimeAsync(each.laterMs);
        else {
          const who = { id: `p${each.who}` };
          expect(await allOf(own, who, each.times, each.atOnce)).toEqual(await allOf(plain, who, each.times, false));
        }
      }
    };
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) =>
      rated(options, (own) => rated(options, (plain) => compare(own, plain, steps), false, 3), false, 3),
    );
    await fc.assert(property, { numRuns: 300 });
  });

  it('count nothing for callers without a rate, and let no request pass at once when none is left', () =>
    rated({ ...OFF, principal: '3/min' }, async (rates) => {
      expect(rates.atOnce(READ, ANONYMOUS)).toBeDefined();
      expect(rates.atOnce(READ, ann)).toBeUndefined();
      await rates.take(READ, ann);
      for (let left = 2; left > 0; left--) rates.atOnce(READ, ann)?.();
      expect(rates.atOnce(READ, ann)).toBeUndefined();
      await expect(rates.take(READ, ann)).rejects.toMatchObject({ code: 'limited' });
    }));

  it.each(['', '10', '0/s', '-1/s', '10/day', '1e9/s', '10/min '])('refuse an invalid rate: %j', (rate) => {
    expect(() => createRates({ rates: { principal: rate } })).toThrow(ResourceError);
  });
});
