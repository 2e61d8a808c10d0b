/**
 * Work that many ask for at a time, done once for all of them. What an answer says is never older than the question: who
 * comes while the work is running shares the next run with all who come meanwhile. So two runs of the same work are all
 * that there is at a time, however many ask.
 */

import { type Context, withSignal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { holdNotes } from '../../core/notes.ts';
import { abortable } from '../../core/waiting/abortable.ts';

export interface Coalescing<T> {
  /**
   * Notes of the work come to everybody who waited for it. It is aborted when nobody does any more.
   * @param key names the work: what it asks, and for whom
   * @throws what the work throws, and the reason of the context's signal
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
  /** Begins when the one before is over. */
  next?: Run<T>;
}

export function createCoalescing<T>(): Coalescing<T> {
  const running = new Map<string, Runs<T>>();

  function begin(key: string, ctx: Context, work: (ctx: Context) => Promise<T>): Run<T> {
    const before = running.get(key);
    if (before?.next !== undefined && !before.next.end.signal.aborted) return before.next;
    const end = new AbortController();
    const notes = holdNotes();
    const own = withSignal({ ...ctx, notes }, end.signal);
    const run: Run<T> = { result: begun(before?.now, own), notes, end, waiting: 0 };

    async function begun(other: Run<T> | undefined, own: Context): Promise<T> {
      if (other !== undefined) await other.result.catch(ifSlow);
      own.signal.throwIfAborted();
      return work(own);
    }
    function over(): void {
      const { now, next } = running.get(key) ?? {};
      if (now !== run) return;
      if (next === undefined) running.delete(key);
      else running.set(key, { now: next });
    }
    if (before === undefined) running.set(key, { now: run });
    else before.next = run;
    run.result.then(over, over);
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

/** Who waited for one that took too long has waited long enough; whatever else it failed with may be another next time. */
function ifSlow(error: unknown): void {
  if (error instanceof ResourceError && error.code === 'timeout') throw error;
}
