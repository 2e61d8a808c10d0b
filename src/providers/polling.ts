/**
 * Changes by looking again, for data that sends no word of them. What is watched by several is looked at once; between two
 * looks some time passes; nobody watches, nobody looks.
 */
import { type Context, createContext, type Log, withSignal } from '../core/context.ts';
import type { ChangeEvent } from '../core/provider.ts';
import { createTurns } from '../core/waiting/turns.ts';

type OnChange = (event: ChangeEvent) => void;

/**
 * Sums up the present state in a short text: where two differ, something has changed. A look that throws saw nothing.
 * @param uri undefined for the listed set
 */
export type Look = (uri: string | undefined, ctx: Context) => Promise<string>;

export interface Polling {
  /** Looks, and then again and again. @param milliseconds between two looks @throws what the first look throws */
  watch(uri: string | undefined, milliseconds: number, onChange: OnChange, ctx: Context): Promise<AsyncDisposable>;
  /** Ends every watch; resolves when no look is under way. */
  close(): Promise<void>;
}

interface Watched {
  readonly listeners: Set<OnChange>;
  readonly ending: AbortController;
  /** The result of the latest look; pending until the first one is over. */
  seen: Promise<string>;
  timer: NodeJS.Timeout | undefined;
  running: Promise<void>;
  failures: number;
}

/** @param concurrency looks that are under way at a time */
export function createPolling(look: Look, concurrency: number): Polling {
  const watched = new Map<string | undefined, Watched>();
  const inTurn = createTurns(concurrency);

  async function lookAgain(uri: string | undefined, each: Watched, log: Log): Promise<void> {
    const { signal } = each.ending;
    try {
      const before = await each.seen;
      const sees = await inTurn(async () => (signal.aborted ? before : look(uri, createContext({ signal, log }))));
      each.failures = 0;
      if (sees === before || signal.aborted) return;
      each.seen = Promise.resolve(sees);
      const event: ChangeEvent = uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri };
      for (const listener of [...each.listeners]) listener(event);
    } catch (error) {
      if (signal.aborted || each.failures++ > 0) return;
      log.warn('a look at what is watched failed; changes are told late', { uri, error });
    }
  }

  function schedule(uri: string | undefined, each: Watched, milliseconds: number, log: Log): void {
    if (each.ending.signal.aborted) return;
    each.timer = setTimeout(() => {
      each.running = lookAgain(uri, each, log).then(() => schedule(uri, each, milliseconds, log));
    }, milliseconds);
  }

  async function end(uri: string | undefined, each: Watched): Promise<void> {
    if (watched.get(uri) === each) watched.delete(uri);
    clearTimeout(each.timer);
    each.ending.abort();
    await each.running;
  }

  function begin(uri: string | undefined, milliseconds: number, ctx: Context): Watched {
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, ctx.signal]);
    const seen = inTurn(() => look(uri, withSignal(ctx, signal)));
    const each: Watched = {
      ...{ listeners: new Set<OnChange>(), ending, seen, timer: undefined, failures: 0 },
      running: Promise.resolve(),
    };
    watched.set(uri, each);
    each.running = seen.then(
      () => schedule(uri, each, milliseconds, ctx.log),
      () => void (watched.get(uri) === each && watched.delete(uri)),
    );
    return each;
  }

  return {
    async watch(uri, milliseconds, onChange, ctx) {
      const each = watched.get(uri) ?? begin(uri, milliseconds, ctx);
      // Wrapped, so that the same function may listen twice.
      const listener: OnChange = (event) => onChange(event);
      each.listeners.add(listener);
      const leave = async (): Promise<void> => {
        if (each.listeners.delete(listener) && each.listeners.size === 0) await end(uri, each);
      };
      try {
        await each.seen;
      } catch (error) {
        await leave();
        throw error;
      }
      return { [Symbol.asyncDispose]: leave };
    },
    async close() {
      await Promise.all([...watched].map(([uri, each]) => end(uri, each)));
    },
  };
}
