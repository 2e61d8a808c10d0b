/** The runs of a mount: simultaneous reads of one program share a run, and its output may be used again for a while. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createFairQueue, MAX_WAIT_MS } from '../../core/waiting/fair-queue.ts';
import type { Program } from './programs.ts';
import { type Reader, type Run, startRun } from './run.ts';

/** The most programs that wait for their turn. */
const MAX_WAITING = 256;

/** The most outputs that are kept to be used again. */
const MAX_KEPT = 256;

export interface Runs {
  /** Joins a run of this program, or starts one. @param fresh whether a run that is complete may not be joined */
  read(program: Program, asker: Asker, fresh?: boolean): Reader;
  /** Ends all runs. Resolves when no program is running any more. */
  close(): Promise<void>;
}

type Asker = Pick<Context, 'principal' | 'log'>;

/** @param timeoutMs how long a program of this mount may run: another one waits for its turn at least as long */
export function createRuns(maxConcurrent: number, timeoutMs: number): Runs {
  const queue = createFairQueue({
    places: maxConcurrent,
    maxWaiting: MAX_WAITING,
    maxWaitMs: Math.max(MAX_WAIT_MS, timeoutMs),
    busy: 'Too many programs are running or waiting to run; try again later',
    limit: 'maxConcurrent',
  });
  /**
   * The runs that can be joined, by key. A run that has begun has a key that names its program, so anybody can join it. Before
   * that, its only key names the principal, too: whoever joined a run that another principal waits for would wait behind all
   * other programs of that principal.
   */
  const joinable = new Map<string, { readonly run: Run; done: boolean }>();
  const all = new Set<Run>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  function forget(keys: readonly string[], run: Run): void {
    for (const key of keys) if (joinable.get(key)?.run === run) joinable.delete(key);
  }

  function start(key: string, principalKey: string, program: Program, { principal, log }: Asker): Run {
    const begin = async (signal: AbortSignal): Promise<() => void> => {
      const release = await queue.take(principal.id, signal);
      if (joinable.get(principalKey) === entry) joinable.set(key, entry);
      return release;
    };
    const run = startRun(program, begin, log);
    const entry = { run, done: false };
    joinable.set(principalKey, entry);
    all.add(run);
    void run.over.then(() => all.delete(run));
    run.complete.then(
      () => {
        entry.done = true;
        forget([principalKey], run);
        if (program.ttlMs === 0 || closed || joinable.size > MAX_KEPT) return forget([key], run);
        const timer = setTimeout(() => {
          timers.delete(timer);
          forget([key], run);
        }, program.ttlMs);
        timer.unref();
        timers.add(timer);
      },
      () => forget([key, principalKey], run),
    );
    return run;
  }

  return {
    read(program, asker, fresh = false) {
      if (closed) throw new ResourceError('unavailable', 'The server is shutting down');
      const { argv, cwd, env } = program;
      const key = JSON.stringify([argv, cwd, env]);
      const principalKey = JSON.stringify([asker.principal.id, key]);
      const entry = joinable.get(key) ?? joinable.get(principalKey);
      const joined = entry === undefined || (fresh && entry.done) ? undefined : entry.run.join();
      if (joined !== undefined) return joined;
      const reader = start(key, principalKey, program, asker).join();
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

/** Yields the output as it comes, and leaves the reader at the end. @param uri the URI that errors name */
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
