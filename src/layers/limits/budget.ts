/** Bounds the memory for the contents of all requests. A read that does not fit waits for a short time, and is then refused. */
import { overLimit } from '../../core/admission.ts';

export interface BudgetOptions {
  /** Bytes that may be held at a time. */
  readonly maxBytes: number;
  /** Reads that may wait. */
  readonly maxWaiting?: number | undefined;
  /** How long each may wait, in milliseconds. */
  readonly waitMs?: number | undefined;
}

export const DEFAULT_WAITING = { maxWaiting: 100, waitMs: 3_000 } as const;

export interface Budget {
  /**
   * Reserves bytes as soon as they fit. A read of `maxBytes` or more fits when nothing else is held.
   * @returns a function that gives the bytes back
   * @throws ResourceError `limited` when the queue is full or nothing was given back in time; the signal's reason
   */
  reserve(bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Counts bytes that are in memory already, however many. @returns a function that gives them back */
  take(bytes: number): () => void;
  /** Bytes that are held now. */
  readonly held: number;
  /** Reads that wait now. */
  readonly waiting: number;
}

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

export function createBudget(options: BudgetOptions): Budget {
  const { maxBytes } = options;
  const maxWaiting = options.maxWaiting ?? DEFAULT_WAITING.maxWaiting;
  const waitMs = options.waitMs ?? DEFAULT_WAITING.waitMs;
  const queue = new Set<Waiting>();
  let held = 0;

  const fits = (bytes: number): boolean => held === 0 || held + bytes <= maxBytes;
  const refused = (): Error =>
    overLimit('Too much is being read at the same time; try again later (limits.maxHeldBytes)', 'maxHeldBytes', waitMs);

  /** Begins reads in their order. If small ones could overtake, a large one might never begin. */
  function next(): void {
    for (const first of queue) {
      if (!fits(first.bytes)) return;
      queue.delete(first);
      first.begin();
    }
  }

  function take(bytes: number): () => void {
    held += bytes;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      held -= bytes;
      next();
    };
  }

  return {
    async reserve(wanted, signal) {
      signal.throwIfAborted();
      const bytes = Math.min(wanted, maxBytes);
      if (queue.size === 0 && fits(bytes)) return take(bytes);
      if (queue.size >= maxWaiting) throw refused();
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
          queue.delete(waiting);
        };
        const onAbort = (): void => {
          leave();
          reject(signal.reason);
          next();
        };
        const timer = setTimeout(() => {
          leave();
          reject(refused());
          next();
        }, waitMs);
        const waiting: Waiting = {
          bytes,
          begin() {
            leave();
            resolve(take(bytes));
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.add(waiting);
      });
    },
    take,
    get held() {
      return held;
    },
    get waiting() {
      return queue.size;
    },
  };
}
