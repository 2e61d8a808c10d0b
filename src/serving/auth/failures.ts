/** Tokens that were refused, in the audit: whoever tries some leaves a trace, and cannot fill the file with it. */
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Engine } from '../../engine/index.ts';
import type { AuthError } from './challenge.ts';

/** Milliseconds in which those of one kind, after the first, become one line. */
const WINDOW_MS = 10_000;

/** Kinds that are told apart in that time; all others are one. */
const MAX_KINDS = 1_000;

/** Why a request did not come in. */
export type AuthFailure = AuthError | 'unavailable';

export interface Failures {
  /** @param from the address that the request came from, where it is known */
  add(reason: AuthFailure, from?: string): void;
  /** Records what waits. */
  close(): void;
}

/** @param refused records one line; undefined without an audit */
export function createFailures(refused: Engine['refused'] | undefined): Failures {
  /** How many came since the line of their kind. */
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
      const known = `${reason} ${from}`;
      const key = waiting.has(known) || waiting.size < MAX_KINDS ? known : '';
      const kind = waiting.get(key);
      if (kind !== undefined) {
        kind.count++;
        return;
      }
      const shown = key === '' ? 'many' : from;
      waiting.set(key, { reason, from: shown, count: 0 });
      record(reason, shown);
      timer ??= setTimeout(flush, WINDOW_MS).unref();
    },
    close: flush,
  };
}
