/** Keeps one connection up: opens it when it is wanted, and again with growing pauses when it has ended. */
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createPauses } from './pauses.ts';
import type { Link } from './wire/link.ts';

/** Only a good connection that has ended is opened again at once. */
const PAUSES = { firstMs: 250, longestMs: 30_000 } as const;

/** A connection that lasted this long was a good one: the pauses begin anew. */
const GOOD_AFTER_MS = 10_000;

/** One that was cut off was good for so long, or the pauses go on growing. */
const GOOD_BEFORE_CUT_MS = 10 * 60_000;

export type LinkState = 'idle' | 'connecting' | 'ready' | 'away';

export interface Supervisor {
  /**
   * The connection, opened if need be.
   * @throws ResourceError `unavailable` at once while the next attempt is due later
   */
  get(signal?: AbortSignal): Promise<Link>;
  /** The connection if it is up. */
  readonly current: Link | undefined;
  readonly state: LinkState;
  /** Attempts since the last good connection, and what the latest one failed with. */
  readonly failures: number;
  readonly lastError: string | undefined;
  /** Connections that were opened so far. */
  readonly opened: number;
  /** Told by the connection itself. @param cutOff why, where the server went over a limit: it is left alone for a while */
  ended(link: Link, cutOff?: ResourceError): void;
  /** From now on until disposed it is kept up without being asked. */
  keep(): Disposable;
  /** Ends the connection for now; the next who wants it opens it again. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

export interface SupervisorOptions {
  readonly name: string;
  readonly log: Log;
  /** @param signal aborted when it is wanted no more */
  open(signal: AbortSignal): Promise<Link>;
  /** A connection is up; `again` when there was one before, or should have been: something may have been missed. */
  up(link: Link, again: boolean): void;
  down(): void;
  /** The server is left alone for so long, whatever became of this connection; 0 milliseconds where it is not. */
  readonly barred?: Barred | undefined;
}

/** A server that was cut off, over whichever of its connections. */
export interface Barred {
  /** In milliseconds. */
  readonly leftMs: number;
  readonly reason: ResourceError | undefined;
}

export function createSupervisor({ name, log, open, up, down, barred }: SupervisorOptions): Supervisor {
  let link: Link | undefined;
  let opening: Promise<Link> | undefined;
  const pauses = createPauses(PAUSES);
  let lastError: ResourceError | undefined;
  let openedAt = 0;
  let opened = 0;
  let kept = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const lifetime = new AbortController();

  /** How long nothing is tried, in milliseconds. */
  const leftMs = (): number => Math.max(pauses.leftMs, barred?.leftMs ?? 0);

  function away(): ResourceError {
    const cause = lastError ?? barred?.reason;
    const message = cause?.message ?? `The server behind "${name}" cannot be reached now`;
    return new ResourceError('unavailable', message, { cause, details: { retryAfterMs: leftMs() } });
  }

  async function attempt(): Promise<Link> {
    try {
      const fresh = await open(lifetime.signal);
      if (closed || fresh.ended) {
        await fresh.close();
        throw new ResourceError('unavailable', `The server behind "${name}" has ended the connection`);
      }
      link = fresh;
      openedAt = Date.now();
      lastError = undefined;
      opened++;
      log.info('an upstream is connected', { mount: name, era: fresh.era, server: fresh.name, version: fresh.version });
      up(fresh, opened > 1 || pauses.failures > 0);
      return fresh;
    } catch (error) {
      lastError =
        error instanceof ResourceError
          ? error
          : new ResourceError('unavailable', `The server behind "${name}" cannot be reached now`, { cause: error });
      pauses.grow();
      if (!closed)
        log.warn('an upstream cannot be reached', {
          mount: name,
          failures: pauses.failures,
          nextMs: Math.round(leftMs()),
          // All of it once: what follows is mostly the same again.
          ...(pauses.failures === 1 ? { error } : { reason: lastError.message }),
        });
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
    if (closed || kept === 0 || link !== undefined || opening !== undefined) return;
    timer = setTimeout(() => void start().catch(() => {}), leftMs());
    timer.unref();
  }

  function start(): Promise<Link> {
    opening ??= attempt();
    return opening;
  }

  return {
    async get(signal) {
      if (closed) throw new ResourceError('unavailable', 'The server is shutting down');
      if (link !== undefined && !link.ended) return link;
      if (opening === undefined && leftMs() > 0) throw away();
      const wanted = start();
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
      lastError = cutOff ?? new ResourceError('unavailable', `The server behind "${name}" has ended the connection`);
      if (pauses.failures === 0 && cutOff === undefined) pauses.skip();
      else pauses.grow();
      if (!closed && cutOff === undefined) log.warn('an upstream has ended its connection', { mount: name });
      if (!closed && cutOff !== undefined)
        log.warn('an upstream is cut off', { mount: name, reason: cutOff.message, nextMs: Math.round(leftMs()) });
      down();
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
      await resting?.close();
    },
    async close() {
      closed = true;
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      clearTimeout(timer);
      const last = link;
      link = undefined;
      await Promise.allSettled([last?.close(), opening?.then((each) => each.close())]);
    },
  };
}

/** What is being opened for several callers goes on when one of them goes away. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
