/**
 * Does work once for all callers that ask for it at the same time. An answer is never older than its question: a caller that
 * comes during a run waits for the next run, together with all others that come meanwhile. So at most one run of the same
 * work is active and one waits, however many callers there are.
 */

import { type Context, withSignal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { holdNotes } from '../../core/notes.ts';
import { abortable } from '../../core/waiting/abortable.ts';

export interface Coalescing<T> {
  /**
   * Waits for a run of the work. Every caller gets the notes of its run. A run is aborted when no caller waits for it any more.
   * @param key identifies the work: what it asks, and for whom
   * @throws the error of the work, or the reason of the context's signal
   */
  run(key: string, ctx: Context, work: (ctx: Context) => Promise<T>): Promise<T>;
}

interface Run<T> {
  readonly result: Promise<T>;
  readonly notes: ReturnType<typeof holdNotes>;
  readonly end: AbortController;
  waiting: number;
}

interface Runs<T> {
  readonly now: Run<T>;
  /** Begins when `now` has ended. */
  next?: Run<T>;
}

export function createCoalescing<T>(): Coalescing<T> {
  const running = new Map<string, Runs<T>>();

  function begin(key: string, ctx: Context, work: (ctx: Context) => Promise<T>): Run<T> {
    const before = running.get(key);
    if (before?.next !== undefined && !before.next.end.signal.aborted) return before.next;
    const end = new AbortController();
    const notes = holdNotes();
    const runCtx = withSignal({ ...ctx, notes }, end.signal);
    const run: Run<T> = { result: resultAfter(before?.now), notes, end, waiting: 0 };

    async function resultAfter(previous: Run<T> | undefined): Promise<T> {
      if (previous !== undefined) await previous.result.catch(throwTimeout);
      runCtx.signal.throwIfAborted();
      return work(runCtx);
    }
    function ended(): void {
      const { now, next } = running.get(key) ?? {};
      if (now !== run) return;
      if (next === undefined) running.delete(key);
      else running.set(key, { now: next });
    }
    if (before === undefined) running.set(key, { now: run });
    else before.next = run;
    run.result.then(ended, ended);
    return run;
  }

  return {
    async run(key, ctx, work) {
      const run = begin(key, ctx, work);
      run.waiting++;
      try {
        const result = await abortable(run.result, ctx.signal);
        run.notes.release(ctx.notes);
        return result;
      } finally {
        if (--run.waiting === 0) run.end.abort(new ResourceError('unavailable', 'Nobody waits for it any more'));
      }
    },
  };
}

/** Throws the error of the previous run if it was a timeout: the callers of the next run have waited long enough, too. */
function throwTimeout(error: unknown): void {
  if (error instanceof ResourceError && error.code === 'timeout') throw error;
}
