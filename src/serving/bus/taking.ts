/** Counts what all replicas do within a time, with a limiter of `rate-limiter-flexible`: in Redis, or in the parent of workers. */
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { BusMemory, SharedRate } from '../../core/bus.ts';

type Package = typeof import('rate-limiter-flexible');

/** @param limiterOf makes the limiter of a rate; called when the rate is used for the first time */
export function createTaking(
  limiterOf: (library: Package, rate: SharedRate) => RateLimiterAbstract,
): BusMemory['take'] {
  const limiters = new Map<string, RateLimiterAbstract>();
  async function find(rate: SharedRate): Promise<RateLimiterAbstract> {
    const name = `${rate.most}/${rate.seconds}`;
    const library = await import('rate-limiter-flexible');
    const limiter = limiters.get(name) ?? limiterOf(library, rate);
    limiters.set(name, limiter);
    return limiter;
  }
  return async (key, wanted, rate) => {
    const { consumedPoints, msBeforeNext } = await consumed(await find(rate), key, wanted);
    // The limiter counts all that was wanted, even if only a part of it was left.
    const left = rate.most - (consumedPoints - wanted);
    return { got: Math.min(wanted, Math.max(0, left)), msLeft: msBeforeNext };
  };
}

async function consumed(limiter: RateLimiterAbstract, key: string, wanted: number): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key, wanted);
  } catch (refused) {
    if (refused instanceof Error) throw refused;
    return refused as RateLimiterRes;
  }
}
