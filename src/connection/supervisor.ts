/** Keeps one connection up: opens it when it is wanted, and again with growing pauses when it has ended. */
import { abortable } from '../core/waiting/abortable.ts';
import { createPauses, type PauseRange } from './pauses.ts';

/** A connection that lasted this long was a good one: the next pause is short again. */
const GOOD_AFTER_MS = 10_000;

/** A connection that was cut off was a good one only if it lasted this long. Otherwise the pauses go on growing. */
const GOOD_BEFORE_CUT_MS = 10 * 60_000;

/** `idle`: there is no connection, since none was wanted yet or it rests. `away`: opening failed, or the connection has ended. */
export type ConnectionState = 'idle' | 'connecting' | 'ready' | 'away';

export interface Supervisor<Link> {
  /**
   * Returns the connection, and opens it if need be.
   * @param waits how long to wait for a connection that is being opened. Default: as long as that takes
   * @throws the error of opening; with `holds`, an error at once during a pause
   */
  get(signal?: AbortSignal, waits?: Waits): Promise<Link>;
  /** The connection if it is up. */
  readonly current: Link | undefined;
  readonly state: ConnectionState;
  /** How often an attempt has failed, or a connection has ended, since the last good connection. */
  readonly failures: number;
  /** The error of the latest of these. */
  readonly lastError: string | undefined;
  /** Connections that were opened so far. */
  readonly opened: number;
  /**
   * To be called when the connection has ended.
   * @param cutOff the reason if the server went over a limit: then the pause is longer
   */
  ended(link: Link, cutOff?: Error): void;
  /** Keeps the connection up, even if nobody asks for it, until the result is disposed of. */
  keep(): Disposable;
  /** Closes the connection for now. The next `get` opens it again. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** How many milliseconds a caller waits, counted from now or from the beginning of the attempt. */
export interface Waits {
  readonly ms: number;
  readonly since: 'now' | 'begun';
}

/** Makes the errors for callers that want the connection. */
export interface Words {
  /** The connection could not be opened. */
  failed(error: unknown): Error;
  /** The connection is still being opened. */
  slow(): Error;
  /** The connection has ended. */
  lost(): Error;
  /** The next attempt is due later. @param cause the error of the latest one */
  away(cause: Error | undefined, retryAfterMs: number): Error;
  /** The supervisor is closed. */
  closed(): Error;
}

/** How long nobody connects to the server, in milliseconds, and why; 0 if connections are allowed. */
export interface Barred {
  readonly leftMs: number;
  readonly reason: Error | undefined;
}

export interface SupervisorOptions<Link> {
  /** @param signal aborted when the supervisor is closed */
  open(signal: AbortSignal): Promise<Link>;
  close(link: Link): Promise<void>;
  readonly words: Words;
  readonly pauses: PauseRange;
  /** Whether pauses hold for callers, too: `get` fails during a pause. Default false: a call begins an attempt at once. */
  readonly holds?: boolean | undefined;
  /** How many attempts in a row may fail before no more are made without a caller. Default: any number. */
  readonly maxAttempts?: number | undefined;
  readonly barred?: Barred | undefined;
  /** A connection is up. @param again whether something may have been missed: there was a connection, or a caller wanted one */
  up(link: Link, again: boolean): void;
  /** The connection has ended. @param cutOff the reason if the server went over a limit */
  down?(cutOff: Error | undefined, nextMs: number): void;
  /** An attempt failed. @param error as it came; @param reason the error that callers get */
  failed?(error: unknown, reason: Error, nextMs: number): void;
  /** No more attempts are made until a caller asks. */
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
  /** Whether a caller has stopped waiting for the connection that is being opened. */
  let wasLate = false;
  let opened = 0;
  /** How many attempts have failed since the last one that succeeded. */
  let inRow = 0;
  let kept = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Returns how long no attempt is made, in milliseconds. */
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

  /** Plans the next attempt, if the connection is to be kept up. */
  function plan(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isClosed() || kept === 0 || link !== undefined || opening !== undefined) return;
    if (inRow >= maxAttempts) return;
    timer = setTimeout(() => void start().catch(() => {}), leftMs());
  }

  /** Makes the pauses short again if the connection that is gone now was a good one: it lasted at least this long. */
  function judge(goodAfterMs: number): void {
    if (Date.now() - openedAt >= goodAfterMs) pauses.reset();
  }

  function start(): Promise<Link> {
    opening ??= attempt();
    return opening;
  }

  /** @throws the error `slow` when the caller's time is up */
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
      return lastError === undefined ? 'idle' : 'away';
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
      judge(cutOff === undefined ? GOOD_AFTER_MS : GOOD_BEFORE_CUT_MS);
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
      if (resting === undefined) return;
      judge(GOOD_AFTER_MS);
      await options.close(resting);
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
