/**
 * Reports changes by polling, for data without change events. All watchers of a resource share its looks, which follow each
 * other at an interval. Without watchers there are no looks.
 */
import { type Context, createContext, type Log, withSignal } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { ChangeEvent } from '../core/provider.ts';
import { abortable } from '../core/waiting/abortable.ts';
import { createTurns } from '../core/waiting/turns.ts';

type OnChange = (event: ChangeEvent) => void;

/**
 * Returns a short text for the current state. If two texts differ, something has changed. A look that throws does not count.
 * @param uri undefined for the default list
 */
export type Look = (uri: string | undefined, ctx: Context) => Promise<string>;

export interface Polling {
  /**
   * Watches a resource. Resolves after the first look.
   * @param milliseconds the pause between two looks
   * @throws the error of the first look; the reason of the context's signal; ResourceError `unavailable` after `close`
   */
  watch(uri: string | undefined, milliseconds: number, onChange: OnChange, ctx: Context): Promise<AsyncDisposable>;
  /** Ends every watch; resolves when no look is under way. */
  close(): Promise<void>;
}

/** The most looks that wait for their turn. If there are more, the further ones fail. */
const MAX_WAITING = 10_000;

interface Watched {
  readonly listeners: Set<OnChange>;
  readonly ending: AbortController;
  /** The result of the latest look that succeeded; pending until the first one is over. */
  seen: Promise<string>;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void>;
  failures: number;
}

/** @param concurrency the most looks that run at a time */
export function createPolling(look: Look, concurrency: number): Polling {
  const watched = new Map<string | undefined, Watched>();
  const inTurn = createTurns(concurrency, MAX_WAITING);
  let closed = false;

  async function lookAgain(uri: string | undefined, entry: Watched, log: Log): Promise<void> {
    const { signal } = entry.ending;
    try {
      const before = await entry.seen;
      const now = await inTurn(async () => (signal.aborted ? before : look(uri, createContext({ signal, log }))));
      entry.failures = 0;
      if (now === before || signal.aborted) return;
      entry.seen = Promise.resolve(now);
      const event: ChangeEvent = uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri };
      for (const listener of [...entry.listeners]) listener(event);
    } catch (error) {
      // Only the first of several failures in a row is logged.
      if (signal.aborted || entry.failures++ > 0) return;
      log.warn('a look at what is watched failed; changes are told late', { uri, error });
    }
  }

  function schedule(uri: string | undefined, entry: Watched, milliseconds: number, log: Log): void {
    if (entry.ending.signal.aborted) return;
    entry.timer = setTimeout(() => {
      entry.running = lookAgain(uri, entry, log).then(() => schedule(uri, entry, milliseconds, log));
    }, milliseconds);
  }

  async function end(uri: string | undefined, entry: Watched): Promise<void> {
    if (watched.get(uri) === entry) watched.delete(uri);
    clearTimeout(entry.timer);
    entry.ending.abort();
    await entry.running;
  }

  function begin(uri: string | undefined, milliseconds: number, ctx: Context): Watched {
    const ending = new AbortController();
    // The first look does not end with its caller, because others may join it.
    const seen = inTurn(() => look(uri, withSignal(ctx, ending.signal)));
    const entry: Watched = {
      ...{ listeners: new Set<OnChange>(), ending, seen, timer: undefined, failures: 0 },
      running: Promise.resolve(),
    };
    watched.set(uri, entry);
    entry.running = seen.then(
      () => schedule(uri, entry, milliseconds, ctx.log),
      () => void (watched.get(uri) === entry && watched.delete(uri)),
    );
    return entry;
  }

  return {
    async watch(uri, milliseconds, onChange, ctx) {
      if (closed) throw new ResourceError('unavailable', 'The server is shutting down', { uri });
      ctx.signal.throwIfAborted();
      const entry = watched.get(uri) ?? begin(uri, milliseconds, ctx);
      // Wrapped, so that the set can hold the same function twice.
      const listener: OnChange = (event) => onChange(event);
      entry.listeners.add(listener);
      const leave = async (): Promise<void> => {
        if (entry.listeners.delete(listener) && entry.listeners.size === 0) await end(uri, entry);
      };
      try {
        await abortable(entry.seen, ctx.signal);
      } catch (error) {
        await leave();
        throw error;
      }
      return { [Symbol.asyncDispose]: leave };
    },
    async close() {
      closed = true;
      await Promise.all([...watched].map(([uri, entry]) => end(uri, entry)));
    },
  };
}
