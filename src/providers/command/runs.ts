/** The runs of a mount: what is asked for at the same time is run once, and an output may be given again for a while. */
import type { Context, Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createPlaces } from './places.ts';
import type { Program } from './programs.ts';
import { type Reader, type Run, startRun } from './run.ts';

/** Outputs that are kept to be given again. */
const MAX_KEPT = 256;

export interface Runs {
  /** Joins a run of this program, or starts one. `fresh`: not one whose output is given again. */
  read(program: Program, log: Log, fresh?: boolean): Reader;
  /** Ends all; resolves when nothing is running any more. */
  close(): Promise<void>;
}

export function createRuns(maxConcurrent: number): Runs {
  const places = createPlaces(maxConcurrent);
  /** Those that can be joined, by what they run. */
  const joinable = new Map<string, { readonly run: Run; done: boolean }>();
  const all = new Set<Run>();
  const timers = new Set<NodeJS.Timeout>();
  let closed = false;

  function forget(key: string, run: Run): void {
    if (joinable.get(key)?.run === run) joinable.delete(key);
  }

  function start(key: string, program: Program, log: Log): Run {
    const run = startRun(program, places, log);
    const entry = { run, done: false };
    joinable.set(key, entry);
    all.add(run);
    void run.over.then(() => all.delete(run));
    run.complete.then(
      () => {
        entry.done = true;
        if (program.ttlMs === 0 || closed || joinable.size > MAX_KEPT) return forget(key, run);
        const timer = setTimeout(() => {
          timers.delete(timer);
          forget(key, run);
        }, program.ttlMs);
        timer.unref();
        timers.add(timer);
      },
      () => forget(key, run),
    );
    return run;
  }

  return {
    read(program, log, fresh = false) {
      if (closed) throw new ResourceError('unavailable', 'The server is shutting down');
      const { argv, cwd, env } = program;
      const key = JSON.stringify([argv, cwd, env]);
      const known = joinable.get(key);
      const joined = known === undefined || (fresh && known.done) ? undefined : known.run.join();
      if (joined !== undefined) return joined;
      const reader = start(key, program, log).join();
      if (reader === undefined) throw new ResourceError('internal', 'A new run cannot be read');
      return reader;
    },
    async close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
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
