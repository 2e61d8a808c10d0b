/** The runs of a mount: what is asked for at the same time is run once, and an output may be given again for a while. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createFairQueue, MAX_WAIT_MS } from '../../core/waiting/fair-queue.ts';
import type { Program } from './programs.ts';
import { type Reader, type Run, startRun } from './run.ts';

/** Those who wait to run. */
const MAX_WAITING = 256;

/** Outputs that are kept to be given again. */
const MAX_KEPT = 256;

export interface Runs {
  /** Joins a run of this program, or starts one. `fresh`: not one whose output is given again. */
  read(program: Program, asker: Asker, fresh?: boolean): Reader;
  /** Ends all; resolves when nothing is running any more. */
  close(): Promise<void>;
}

type Asker = Pick<Context, 'principal' | 'log'>;

/** @param timeoutMs what one may take: it is waited for as long as that, at least */
export function createRuns(maxConcurrent: number, timeoutMs: number): Runs {
  const queue = createFairQueue({
    places: maxConcurrent,
    maxWaiting: MAX_WAITING,
    maxWaitMs: Math.max(MAX_WAIT_MS, timeoutMs),
    busy: 'Too many programs are running or waiting to run; try again later',
    limit: 'maxConcurrent',
  });
  /**
   * Those that can be joined: by what they run when they have begun, and by who waits for them as well from the start. Who
   * joined what waits for another one's turn would wait behind all that this one asked for.
   */
  const joinable = new Map<string, { readonly run: Run; done: boolean }>();
  const all = new Set<Run>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  function forget(keys: readonly string[], run: Run): void {
    for (const key of keys) if (joinable.get(key)?.run === run) joinable.delete(key);
  }

  function start(key: string, own: string, program: Program, { principal, log }: Asker): Run {
    const begin = async (signal: AbortSignal): Promise<() => void> => {
      const release = await queue.take(principal.id, signal);
      if (joinable.get(own) === entry) joinable.set(key, entry);
      return release;
    };
    const run = startRun(program, begin, log);
    const entry = { run, done: false };
    joinable.set(own, entry);
    all.add(run);
    void run.over.then(() => all.delete(run));
    run.complete.then(
      () => {
        entry.done = true;
        forget([own], run);
        if (program.ttlMs === 0 || closed || joinable.size > MAX_KEPT) return forget([key], run);
        const timer = setTimeout(() => {
          timers.delete(timer);
          forget([key], run);
        }, program.ttlMs);
        timer.unref();
        timers.add(timer);
      },
      () => forget([key, own], run),
    );
    return run;
  }

  return {
    read(program, asker, fresh = false) {
      if (closed) throw new ResourceError('unavailable', 'The server is shutting down');
      const { argv, cwd, env } = program;
      const key = JSON.stringify([argv, cwd, env]);
      const own = JSON.stringify([asker.principal.id, key]);
      const known = joinable.get(key) ?? joinable.get(own);
      const joined = known === undefined || (fresh && known.done) ? undefined : known.run.join();
      if (joined !== undefined) return joined;
      const reader = start(key, own, program, asker).join();
      if (reader === undefined) throw new ResourceError('internal', 'A new run cannot be read');
      return reader;
    },
    async close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      queue.close(new ResourceError('unavailable', 'The server is shutting down'));
      joinable.clear();
      const running = [...all];
      for (const run of running) run.stop();
      await Promise.all(running.map(({ over }) => over));
    },
  };
}

/** The bytes of a reader as they come. @param uri in errors */
export async function* chunksFrom(reader: Reader, uri: string, { signal }: Context): AsyncIterable<Uint8Array> {
  try {
    for (;;) {
      const chunk = await reader.next(signal);
      if (chunk === undefined) return;
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ResourceError ? error.withUri(uri) : error;
  } finally {
    reader.leave();
  }
}
