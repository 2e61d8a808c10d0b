/**
 * Runs programs, such as `tail -F`, while somebody watches. Output of such a program counts as a change, except the first output
 * soon after the program was started for the first time.
 */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import { startProgram } from './process.ts';
import type { Program } from './programs.ts';

/** Milliseconds after the start in which the first output shows the present state, and no change. All output after it counts. */
const SETTLE_MS = 500;

/**
 * Milliseconds before a program that ended is started again: the wait after one that ran for SETTLE_MS or had output, and the
 * longest wait. Each program that ends earlier doubles the wait.
 */
const RESTART_MS = [200, 30_000] as const;

export interface Following {
  /**
   * @throws ResourceError `limited` when too many programs run, `unavailable` when the program cannot be started or after
   *   `close`; the reason of the context's signal
   */
  follow(uri: string, program: Program, tell: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Ends all programs; resolves once they have ended. */
  close(): Promise<void>;
}

interface Followed {
  readonly listeners: Set<() => void>;
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

export function createFollowing(maxFollowed: number): Following {
  const followed = new Map<string, Followed>();
  let closed = false;

  function begin(program: Program, ctx: Context): Followed {
    const listeners = new Set<() => void>();
    const ending = new AbortController();
    let inPlace = (): void => {};
    let refused = (_error: ResourceError): void => {};
    const ready = new Promise<void>((resolve, reject) => {
      inPlace = resolve;
      refused = reject;
    });
    const tell = (): void => {
      for (const listener of [...listeners]) listener();
    };

    async function keepRunning(): Promise<void> {
      let pause: number = RESTART_MS[0];
      for (let starts = 1; !ending.signal.aborted; starts++) {
        const running = startProgram(program);
        const stop = (): void => running.stop();
        ending.signal.addEventListener('abort', stop, { once: true });
        let settled = false;
        const settle = (): void => {
          // The program may have missed a change while it was not running.
          if (!settled && starts > 1) tell();
          settled = true;
          inPlace();
        };
        const timer = setTimeout(settle, SETTLE_MS);
        running.stdout.on('data', () => {
          if (settled) tell();
          else settle();
        });
        const { code, signal, stderr, error } = await running.ended;
        clearTimeout(timer);
        ending.signal.removeEventListener('abort', stop);
        if (ending.signal.aborted) return;
        ctx.log.warn('a program that is followed ended', { program: program.argv[0], code, signal, stderr });
        if (error !== undefined)
          refused(new ResourceError('unavailable', 'The program cannot be started', { cause: error }));
        inPlace();
        pause = settled ? RESTART_MS[0] : Math.min(pause * 2, RESTART_MS[1]);
        await sleep(pause, ending.signal);
      }
    }

    ready.catch(() => {});
    const over = keepRunning();
    return {
      listeners,
      ready,
      async stop() {
        ending.abort();
        inPlace();
        await over;
      },
    };
  }

  async function end(uri: string, each: Followed): Promise<void> {
    if (followed.get(uri) === each) followed.delete(uri);
    await each.stop();
  }

  return {
    async follow(uri, program, tell, ctx) {
      ctx.signal.throwIfAborted();
      if (closed) throw new ResourceError('unavailable', 'The server is shutting down', { uri });
      if (!followed.has(uri) && followed.size >= maxFollowed) {
        const details = { limit: maxFollowed };
        throw new ResourceError('limited', 'Too many programs are followed', { uri, details });
      }
      const each = followed.get(uri) ?? begin(program, ctx);
      followed.set(uri, each);
      const listener = (): void => tell();
      each.listeners.add(listener);
      const leave = async (): Promise<void> => {
        if (each.listeners.delete(listener) && each.listeners.size === 0) await end(uri, each);
      };
      try {
        await abortable(each.ready, ctx.signal);
      } catch (error) {
        await leave();
        throw error instanceof ResourceError ? error.withUri(uri) : error;
      }
      return { [Symbol.asyncDispose]: leave };
    },
    async close() {
      closed = true;
      await Promise.all([...followed].map(([uri, each]) => end(uri, each)));
    },
  };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done, { once: true });
  });
}
