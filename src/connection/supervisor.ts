/** Keeps one connection up: opens it when it is wanted, and again with growing pauses when it has ended. */
import { abortable } from '../core/waiting/abortable.ts';
import { createPauses, type PauseRange } from './pauses.ts';

/** A connection that lasted this long was a good one: the pauses begin anew. */
const GOOD_AFTER_MS = 10_000;

/** One that was cut off was good for so long, or the pauses go on growing. */
const GOOD_BEFORE_CUT_MS = 10 * 60_000;

export type ConnectionState = 'idle' | 'connecting' | 'ready' | 'away';

export interface Supervisor<Link> {
  /**
   * The connection, opened if need be.
   * @param waits how long for a connection that is being opened. Default: as long as that takes
   * @throws what opening it failed with; where the pauses hold, at once while the next attempt is due later
   */
  get(signal?: AbortSignal, waits?: Waits): Promise<Link>;
  /** The connection if it is up. */
  readonly current: Link | undefined;
  readonly state: ConnectionState;
  /** Attempts since the last good connection, and what the latest one failed with. */
  readonly failures: number;
  readonly lastError: string | undefined;
  /** Connections that were opened so far. */
  readonly opened: number;
  /** Told by the connection itself. @param cutOff why, where the server went over a limit: it is left alone for a while */
  ended(link: Link, cutOff?: Error): void;
  /** From now on until disposed it is kept up without being asked. */
  keep(): Disposable;
  /** Ends the connection for now; the next who wants it opens it again. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** For how many milliseconds somebody waits: from now on, or since the connection began to be opened. */
export interface Waits {
  readonly ms: number;
  readonly since: 'now' | 'begun';
}

/** The errors that those get who want the connection. */
export interface Words {
  /** Opening it failed. */
  failed(error: unknown): Error;
  /** It is still being opened. */
  slow(): Error;
  /** It has ended. */
  lost(): Error;
  /** The next attempt is due later. @param cause of the latest one */
  away(cause: Error | undefined, retryAfterMs: number): Error;
  /** The supervisor is closed. */
  closed(): Error;
}

/** A server that is left alone for so long, whatever became of this connection; 0 milliseconds where it is not. */
export interface Barred {
  readonly leftMs: number;
  readonly reason: Error | undefined;
}

export interface SupervisorOptions<Link> {
  /** @param signal aborted when it is wanted no more */
  open(signal: AbortSignal): Promise<Link>;
  close(link: Link): Promise<void>;
  readonly words: Words;
  readonly pauses: PauseRange;
  /** Whether who asks for the connection waits for the pauses, too, and is refused meanwhile. Default false. */
  readonly holds?: boolean | undefined;
  /** Attempts in a row that may fail without anybody asking. Default: any number. */
  readonly maxAttempts?: number | undefined;
  readonly barred?: Barred | undefined;
  /** A connection is up; `again` when there was one before, or somebody wanted it before: something may have been missed. */
  up(link: Link, again: boolean): void;
  /** It has ended. @param cutOff why, where the server went over a limit */
  down?(cutOff: Error | undefined, nextMs: number): void;
  /** An attempt failed. @param error as it came; @param reason the same in words */
  failed?(error: unknown, reason: Error, nextMs: number): void;
  /** It is not tried again until somebody asks. */
  gaveUp?(): void;
}

export function createSupervisor<Link extends { readonly ended: boolean }>(
  options: SupervisorOptions<Link>,
): Supervisor<Link> {
  const { words, barred, maxAttempts = Number.POSITIVE_INFINITY } = options;
  const pauses = createPauses(options.pauses);
  const lifetime = new AbortController();
  let link: Link | undefined;
  let opening: Promise<Link> | undefined;
  let lastError: Error | undefined;
  let openedAt = 0;
  let begunAt = 0;
  /** Somebody did not wait for the connection that is being opened. */
  let wasLate = false;
  let opened = 0;
  /** Attempts that failed since the last one that did not. */
  let inRow = 0;
  let kept = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** How long nothing is tried, in milliseconds. */
  const leftMs = (): number => Math.max(pauses.leftMs, barred?.leftMs ?? 0);

  const isClosed = (): boolean => lifetime.signal.aborted;

  async function attempt(): Promise<Link> {
    begunAt = Date.now();
    try {
      const fresh = await options.open(lifetime.signal);
      if (isClosed() || fresh.ended) {
        await options.close(fresh);
        throw words.lost();
      }
      link = fresh;
      openedAt = Date.now();
      lastError = undefined;
      opened++;
      inRow = 0;
      options.up(fresh, opened > 1 || pauses.failures > 0 || wasLate);
      wasLate = false;
      return fresh;
    } catch (error) {
      lastError = isClosed() ? words.closed() : words.failed(error);
      pauses.grow();
      inRow++;
      if (!isClosed()) {
        options.failed?.(error, lastError, leftMs());
        if (inRow >= maxAttempts) options.gaveUp?.();
      }
      throw lastError;
    } finally {
      opening = undefined;
      plan();
    }
  }

  /** Sees to it that there is a next attempt where it is kept up. */
  function plan(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isClosed() || kept === 0 || link !== undefined || opening !== undefined) return;
    if (inRow >= maxAttempts) return;
    timer = setTimeout(() => void start().catch(() => {}), leftMs());
  }

  function start(): Promise<Link> {
    opening ??= attempt();
    return opening;
  }

  /** @throws what those get who do not wait any longer */
  async function inTime(wanted: Promise<Link>, { ms, since }: Waits): Promise<Link> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const slow = new Promise<never>((_, reject) => {
      const late = (): void => {
        wasLate = true;
        reject(words.slow());
      };
      timer = setTimeout(late, since === 'now' ? ms : begunAt + ms - Date.now());
    });
    return Promise.race([wanted, slow]).finally(() => clearTimeout(timer));
  }

  return {
    async get(signal, waits) {
      signal?.throwIfAborted();
      if (isClosed()) throw words.closed();
      if (link !== undefined && !link.ended) return link;
      if (options.holds === true && opening === undefined && leftMs() > 0) {
        throw words.away(lastError ?? barred?.reason, leftMs());
      }
      const wanted = waits === undefined ? start() : inTime(start(), waits);
      return signal === undefined ? wanted : abortable(wanted, signal);
    },
    get current() {
      return link;
    },
    get state() {
      if (link !== undefined) return 'ready';
      if (opening !== undefined) return 'connecting';
      return pauses.failures > 0 ? 'away' : 'idle';
    },
    get failures() {
      return pauses.failures;
    },
    get lastError() {
      return lastError?.message;
    },
    get opened() {
      return opened;
    },
    ended(which, cutOff) {
      if (which !== link) return;
      link = undefined;
      const lastedMs = Date.now() - openedAt;
      if (lastedMs >= (cutOff === undefined ? GOOD_AFTER_MS : GOOD_BEFORE_CUT_MS)) pauses.reset();
      lastError = cutOff ?? words.lost();
      if (pauses.failures === 0 && cutOff === undefined) pauses.skip();
      else pauses.grow();
      if (!isClosed()) options.down?.(cutOff, leftMs());
      plan();
    },
    keep() {
      kept++;
      plan();
      let disposed = false;
      return {
        [Symbol.dispose]() {
          if (!disposed) kept--;
          disposed = true;
          if (kept === 0) clearTimeout(timer);
        },
      };
    },
    async rest() {
      const resting = link;
      link = undefined;
      if (resting !== undefined) await options.close(resting);
    },
    async close() {
      if (isClosed()) return;
      lifetime.abort(words.closed());
      clearTimeout(timer);
      const last = link;
      link = undefined;
      await Promise.allSettled([last && options.close(last), opening?.then(options.close)]);
    },
  };
}
