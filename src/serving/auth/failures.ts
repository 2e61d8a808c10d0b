/** Records refused tokens in the audit: each attempt leaves a trace, but many attempts cannot fill the file. */
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Engine } from '../../engine/index.ts';
import type { AuthError } from './challenge.ts';

/**
 * How long failures are counted, in milliseconds. The audit gets a line for the first failure of each kind in that time, and at
 * its end one more line for all others of the kind.
 */
const WINDOW_MS = 10_000;

/** The most kinds, each a reason and an address, that are counted apart in that time. Further kinds share a count for each reason. */
const MAX_KINDS = 1_000;

/** The reason why a request was refused. */
export type AuthFailure = AuthError | 'unavailable';

export interface Failures {
  /** Counts a failure. @param from the address of the request. Default: unknown */
  add(reason: AuthFailure, from?: string): void;
  /** Records the failures that are counted but not recorded yet. */
  close(): void;
}

/** @param refused records one line in the audit; undefined without an audit */
export function createFailures(refused: Engine['refused'] | undefined): Failures {
  /** For each kind, the number of failures that are not recorded yet. */
  const waiting = new Map<string, { readonly reason: AuthFailure; readonly from: string; count: number }>();
  let timer: NodeJS.Timeout | undefined;

  function record(reason: AuthFailure, from: string, times?: number): void {
    const problem = new ResourceError(reason === 'unavailable' ? 'unavailable' : 'denied', 'No principal');
    const asked = { method: 'authenticate', name: reason, times };
    refused?.(asked, createContext({ peer: from }), problem, { effect: 'deny', rule: 'no token that is good' });
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const { reason, from, count } of waiting.values()) if (count > 0) record(reason, from, count);
    waiting.clear();
  }

  return {
    add(reason, from = 'unknown') {
      if (refused === undefined) return;
      const name = `${reason} ${from}`;
      const key = waiting.has(name) || waiting.size < MAX_KINDS ? name : reason;
      const kind = waiting.get(key);
      if (kind !== undefined) {
        kind.count++;
        return;
      }
      const shown = key === reason ? 'many' : from;
      waiting.set(key, { reason, from: shown, count: 0 });
      record(reason, shown);
      timer ??= setTimeout(flush, WINDOW_MS).unref();
    },
    close: flush,
  };
}
