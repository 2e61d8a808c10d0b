/**
 * Lets one process make an answer while the others wait for it. A process that ends no longer renews its leases, and so gives
 * them up.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { abortable } from '../waiting/abortable.ts';
import { inTime } from '../waiting/in-time.ts';
import type { AnswerStore } from './shared-answers.ts';

/** How long a lease lasts without a renewal, and the time between two renewals, in milliseconds. */
const LEASE_MS = { lasts: 6_000, renew: 2_000 } as const;

/** The time between two looks for the answer of another process, in milliseconds: at first, and the most that it grows to. */
const LOOK_MS = { first: 20, most: 250 } as const;

/** The longest that a process waits for another one, in milliseconds. */
const MAX_WAIT_MS = 60_000;

/** How long the store may take to say who has a lease, in milliseconds. */
const STORE_MS = 2_000;

/** The answer of another process, or a function to call once this process has made it: it ends the lease, if there is one. */
type Taken = { readonly found: Uint8Array } | { readonly end: () => void };

export interface Leases {
  /**
   * Waits while another process makes the answer of a name, for at most `MAX_WAIT_MS`. If the store cannot tell, it does not
   * wait.
   * @param look finds the answer once it is there
   * @throws the reason of the signal
   */
  take(name: string, look: () => Promise<Uint8Array | undefined>, signal: AbortSignal): Promise<Taken>;
}

export function createLeases(store: AnswerStore): Leases {
  const holder = crypto.randomUUID();
  const take = async (name: string): Promise<boolean> => {
    if (store.lease === undefined) return true;
    const taken = await inTime(store.lease(name, holder, LEASE_MS.lasts), STORE_MS).catch(() => true);
    return taken !== false;
  };
  const release = (name: string): void => {
    store.release?.(name, holder).catch(() => {});
  };

  return {
    async take(name, look, signal) {
      const until = performance.now() + MAX_WAIT_MS;
      for (let ms: number = LOOK_MS.first; !(await take(name)); ms = Math.min(ms * 2, LOOK_MS.most)) {
        if (performance.now() > until) return { end: () => {} };
        await abortable(pause(ms), signal);
        const found = await look();
        if (found !== undefined) return { found };
      }
      // Another process may have kept the answer since this one last looked for it.
      const found = store.lease === undefined ? undefined : await look();
      if (found !== undefined) {
        release(name);
        return { found };
      }
      const renewing = setInterval(() => void take(name), LEASE_MS.renew).unref();
      return {
        end() {
          clearInterval(renewing);
          release(name);
        },
      };
    },
  };
}
