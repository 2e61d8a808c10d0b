/** Keeps leases in the memory of one process. */
import type { BusMemory } from '../../core/bus.ts';
import { ResourceError } from '../../core/errors.ts';

/** The most leases at a time. */
const MAX_LEASES = 10_000;

/** @param elapsed the milliseconds of a monotonic clock */
export function createLeases(elapsed: () => number): Pick<BusMemory, 'lease' | 'release'> {
  const leases = new Map<string, { readonly holder: string; readonly ends: number }>();

  /** The holder of a lease; undefined if there is none or it has expired, and then it is forgotten. */
  function current(name: string): string | undefined {
    const found = leases.get(name);
    if (found !== undefined && found.ends > elapsed()) return found.holder;
    leases.delete(name);
    return undefined;
  }

  return {
    async lease(name, holder, ttlMs) {
      if ((current(name) ?? holder) !== holder) return false;
      if (leases.size >= MAX_LEASES) for (const each of [...leases.keys()]) current(each);
      if (leases.size >= MAX_LEASES && !leases.has(name))
        throw new ResourceError('unavailable', 'There are too many leases to give another one');
      leases.set(name, { holder, ends: elapsed() + ttlMs });
      return true;
    },
    async release(name, holder) {
      if (current(name) === holder) leases.delete(name);
    },
  };
}
