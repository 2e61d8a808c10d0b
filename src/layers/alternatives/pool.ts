/** Runs a few conversions at a time, in processes that are started on demand and ended when idle. */
import { ResourceError } from '../../core/errors.ts';
import { type Caller, createFairQueue, MAX_WAIT_MS } from '../../core/waiting/fair-queue.ts';
import type { Conversion } from './converters/converter.ts';
import { type ConversionProcess, isStartRefused, type Outcome, type ProcessOptions, startProcess } from './process.ts';

export interface PoolOptions extends ProcessOptions {
  /** The most conversions at a time. */
  readonly maxConcurrent: number;
  /** The most conversions that wait. */
  readonly maxWaiting: number;
  /** The time limit of one conversion, in milliseconds. */
  readonly timeoutMs: number;
}

/** The caller of a conversion, and a signal that cancels it. */
export interface Wanting {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Called when its turn comes; returns the same format if another request has made it meanwhile, or is making it. */
  readonly instead: () => Promise<Uint8Array> | undefined;
  /** Runs the conversion, or returns the same format if another process has made it. */
  readonly around: (run: () => Promise<Uint8Array>) => Promise<Uint8Array>;
}

export interface Pool {
  /**
   * Runs a conversion when its turn comes; callers take turns.
   * @throws ResourceError `too-large`, `timeout`, `unavailable`; `limited` when too many are waiting, or for too long; the
   * signal's reason
   */
  convert(converter: string, bytes: Uint8Array, conversion: Conversion, wanting: Wanting): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** How long an idle process is kept, in milliseconds. */
const IDLE_MS = 30_000;

/** The most bytes of all waiting contents. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;

export function createPool(options: PoolOptions): Pool {
  const { maxConcurrent, maxWaiting, timeoutMs } = options;
  const queue = createFairQueue({
    places: maxConcurrent,
    maxWaiting,
    maxWaitingBytes: MAX_WAITING_BYTES,
    maxWaitMs: Math.max(MAX_WAIT_MS, timeoutMs),
    busy: 'Too many conversions at a time; try again later',
    limit: 'forms.maxConcurrent',
  });
  const idle = new Map<ConversionProcess, NodeJS.Timeout>();
  const busy = new Set<ConversionProcess>();
  let closed = false;

  function take(): ConversionProcess {
    for (const [kept, timer] of idle) {
      clearTimeout(timer);
      idle.delete(kept);
      if (!kept.ended) return kept;
    }
    return startProcess(options);
  }

  function put(used: ConversionProcess): void {
    if (closed || used.ended) {
      used.end();
      return;
    }
    const timer = setTimeout(() => {
      idle.delete(used);
      used.end();
    }, IDLE_MS).unref();
    idle.set(used, timer);
  }

  async function run(converter: string, bytes: Uint8Array, conversion: Conversion, signal: AbortSignal) {
    let used: ConversionProcess;
    try {
      used = take();
    } catch (cause) {
      throw errorOf({ kind: 'failed', cause: cause as Error }, conversion, options);
    }
    busy.add(used);
    const leave = (): void => used.end();
    signal.addEventListener('abort', leave, { once: true });
    const outcome = await used.convert({ converter, bytes, ...conversion }, timeoutMs);
    signal.removeEventListener('abort', leave);
    busy.delete(used);
    put(used);
    if (outcome.kind === 'format') return outcome.format;
    throw signal.aborted ? signal.reason : errorOf(outcome, conversion, options);
  }

  return {
    async convert(converter, bytes, conversion, { caller, signal, instead, around }) {
      signal.throwIfAborted();
      const release = await queue.take(caller, signal, bytes.byteLength).catch((error: unknown) => {
        throw closed ? unavailable(conversion, STOPPING) : error;
      });
      let other: Promise<Uint8Array> | undefined;
      try {
        signal.throwIfAborted();
        if (closed) throw unavailable(conversion, STOPPING);
        other = instead();
        if (other === undefined) return await around(() => run(converter, bytes, conversion, signal));
      } finally {
        release();
      }
      return await other;
    },
    async close() {
      closed = true;
      queue.close(STOPPING);
      for (const [kept, timer] of idle) {
        clearTimeout(timer);
        kept.end();
      }
      idle.clear();
      for (const used of busy) used.end();
    },
  };
}

const STOPPING = new Error('The server is stopping');

function errorOf(
  outcome: Exclude<Outcome, { kind: 'format' }>,
  conversion: Conversion,
  { timeoutMs, maxMemoryBytes }: PoolOptions,
): ResourceError {
  const what = `The format ${conversion.to}`;
  switch (outcome.kind) {
    case 'too-large':
      return new ResourceError('too-large', `${what} cannot be made: ${lower(outcome.message)}`, {
        details: outcome.details,
      });
    case 'memory':
      return new ResourceError('too-large', `${what} cannot be made: it takes more memory than a conversion may`, {
        details: { limit: maxMemoryBytes },
      });
    case 'timeout':
      return new ResourceError('timeout', `${what} cannot be made in time`, { details: { limitMs: timeoutMs } });
    case 'failed':
      if (!isStartRefused(outcome.cause)) return unavailable(conversion, outcome.cause);
      return new ResourceError('unavailable', `${what} cannot be made now: no process can be started; try again`, {
        cause: outcome.cause,
      });
  }
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

const unavailable = ({ from, to }: Conversion, cause: Error): ResourceError =>
  new ResourceError('unavailable', `The format ${to} cannot be made of this content, which says that it is ${from}`, {
    cause,
  });
