/** Keeps one connection up: opens it when it is wanted, and again with growing pauses when it has ended. */
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Link } from './wire/link.ts';

/**
 * Pauses between attempts, in milliseconds; half of each is chance, so that many do not come back at once. Only a good
 * connection that has ended is opened again at once.
 */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** A connection that lasted this long was a good one: the pauses begin anew. */
const GOOD_AFTER_MS = 10_000;

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
  /** Told by the connection itself. */
  ended(link: Link): void;
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
}

export function createSupervisor({ name, log, open, up, down }: SupervisorOptions): Supervisor {
  let link: Link | undefined;
  let opening: Promise<Link> | undefined;
  let failures = 0;
  let lastError: ResourceError | undefined;
  let nextAt = 0;
  let openedAt = 0;
  let opened = 0;
  let kept = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const lifetime = new AbortController();

  const away = (): ResourceError =>
    new ResourceError('unavailable', lastError?.message ?? `The server behind "${name}" cannot be reached now`, {
      cause: lastError,
      details: { retryAfterMs: Math.max(0, nextAt - Date.now()) },
    });

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
      up(fresh, opened > 1 || failures > 0);
      return fresh;
    } catch (error) {
      lastError =
        error instanceof ResourceError
          ? error
          : new ResourceError('unavailable', `The server behind "${name}" cannot be reached now`, { cause: error });
      pause();
      if (!closed)
        log.warn('an upstream cannot be reached', {
          mount: name,
          failures,
          nextMs: Math.round(nextAt - Date.now()),
          // All of it once: what follows is mostly the same again.
          ...(failures === 1 ? { error } : { reason: lastError.message }),
        });
      throw lastError;
    } finally {
      opening = undefined;
      plan();
    }
  }

  function pause(): void {
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
    failures++;
    nextAt = Date.now() + longest / 2 + (Math.random() * longest) / 2;
  }

  /** Sees to it that there is a next attempt where it is kept up. */
  function plan(): void {
    clearTimeout(timer);
    timer = undefined;
    if (closed || kept === 0 || link !== undefined || opening !== undefined) return;
    timer = setTimeout(() => void start().catch(() => {}), Math.max(0, nextAt - Date.now()));
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
      if (opening === undefined && Date.now() < nextAt) throw away();
      const wanted = start();
      return signal === undefined ? wanted : abortable(wanted, signal);
    },
    get current() {
      return link;
    },
    get state() {
      if (link !== undefined) return 'ready';
      if (opening !== undefined) return 'connecting';
      return failures > 0 ? 'away' : 'idle';
    },
    get failures() {
      return failures;
    },
    get lastError() {
      return lastError?.message;
    },
    get opened() {
      return opened;
    },
    ended(which) {
      if (which !== link) return;
      link = undefined;
      if (Date.now() - openedAt >= GOOD_AFTER_MS) failures = 0;
      lastError = new ResourceError('unavailable', `The server behind "${name}" has ended the connection`);
      if (failures === 0) {
        failures = 1;
        nextAt = Date.now();
      } else pause();
      if (!closed) log.warn('an upstream has ended its connection', { mount: name });
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
