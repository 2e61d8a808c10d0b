/** Conversions, a few at a time: processes are started when they are needed and ended when they no longer are. */
import { ResourceError } from '../../core/errors.ts';
import type { Conversion } from './converters/converter.ts';
import { type ConversionProcess, type Outcome, type ProcessOptions, startProcess } from './process.ts';

export interface PoolOptions extends ProcessOptions {
  /** Conversions at a time. */
  readonly maxConcurrent: number;
  /** Conversions that wait. */
  readonly maxWaiting: number;
  /** For one, in milliseconds. */
  readonly timeoutMs: number;
}

export interface Pool {
  /**
   * Converts, when it is its turn.
   * @param signal when nobody wants it any more; what has begun is ended then
   * @throws ResourceError `too-large`, `timeout`, `unavailable`; `limited` when too many are waiting; the signal's reason
   */
  convert(converter: string, bytes: Uint8Array, conversion: Conversion, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A process with nothing to do is kept for so long, in milliseconds. */
const IDLE_MS = 30_000;

interface Job {
  readonly converter: string;
  readonly bytes: Uint8Array;
  readonly conversion: Conversion;
  readonly signal: AbortSignal;
  readonly resolve: (form: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

export function createPool(options: PoolOptions): Pool {
  const { maxConcurrent, maxWaiting, timeoutMs } = options;
  const waiting: Job[] = [];
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

  function next(): void {
    if (closed || busy.size >= maxConcurrent) return;
    const job = waiting.shift();
    if (job === undefined) return;
    void run(job);
  }

  async function run({ converter, bytes, conversion, signal, resolve, reject }: Job): Promise<void> {
    let used: ConversionProcess;
    try {
      used = take();
    } catch (cause) {
      reject(errorOf({ kind: 'failed', cause: cause as Error }, conversion, options));
      return;
    }
    busy.add(used);
    const leave = (): void => used.end();
    signal.addEventListener('abort', leave, { once: true });
    const outcome = await used.convert({ converter, bytes, ...conversion }, timeoutMs);
    signal.removeEventListener('abort', leave);
    busy.delete(used);
    put(used);
    if (outcome.kind === 'form') resolve(outcome.form);
    else reject(signal.aborted ? signal.reason : errorOf(outcome, conversion, options));
    next();
  }

  return {
    convert(converter, bytes, conversion, signal) {
      if (closed) return Promise.reject(unavailable(conversion, new Error('The server is stopping')));
      if (signal.aborted) return Promise.reject(signal.reason);
      if (busy.size >= maxConcurrent && waiting.length >= maxWaiting)
        return Promise.reject(new ResourceError('limited', 'Too much is being converted; try again later'));
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = waiting.indexOf(job);
          if (at === -1) return;
          waiting.splice(at, 1);
          reject(signal.reason);
        };
        const job: Job = { converter, bytes, conversion, signal, resolve, reject };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(job);
        next();
      });
    },
    async close() {
      closed = true;
      for (const { reject, conversion } of waiting.splice(0))
        reject(unavailable(conversion, new Error('The server is stopping')));
      for (const [kept, timer] of idle) {
        clearTimeout(timer);
        kept.end();
      }
      idle.clear();
      for (const used of busy) used.end();
    },
  };
}

function errorOf(
  outcome: Exclude<Outcome, { kind: 'form' }>,
  conversion: Conversion,
  { timeoutMs, maxMemoryBytes }: PoolOptions,
): ResourceError {
  const what = `The form ${conversion.to}`;
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
      return unavailable(conversion, outcome.cause);
  }
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

const unavailable = ({ from, to }: Conversion, cause: Error): ResourceError =>
  new ResourceError('unavailable', `The form ${to} cannot be made of this content, which says that it is ${from}`, {
    cause,
  });
