/** The state of one watched subject. This replica watches it at the source, or another replica does and reports over the bus. */
import type { ChangeEvent } from '../../core/provider.ts';
import type { Subject } from './subject.ts';

export type OnChange = (event: ChangeEvent) => void;

export interface Watched {
  readonly subject: Subject;
  /** The listeners in this replica. */
  readonly listeners: Set<OnChange>;
  /** The number of the last request for the subject. An answer with another number is outdated. */
  mark: number;
  /** Whether the replica with the lease has said that it watches the subject. */
  covered: boolean;
  /** Whether the subject has been watched successfully, so that its listeners rely on it. */
  established: boolean;
  /** Whether a change may have been missed that has not been reported yet. */
  missed: boolean;
  /** Whether an attempt to watch it again is under way. */
  recovering: boolean;
  /** When the next attempt may begin, in milliseconds of the monotonic clock. */
  restsUntil: number;
  /** Settles when the first attempt to watch the subject has succeeded or failed. */
  ready: Promise<void> | undefined;
  /** Whether this replica watches the subject at the source, or is about to. */
  readonly placed: boolean;
  /** Watches the subject at the source. @throws the error with which the source refuses */
  place(): Promise<void>;
  /** Ends the watch at the source. */
  unplace(): Promise<void>;
  /** Waits for the answer of the replica with the lease. @returns whether it watches the subject; `false` after `patienceMs` */
  answer(patienceMs: number): Promise<boolean>;
  /** Settles the waits for an answer. @param covers whether the replica with the lease watches the subject */
  answered(covers: boolean): void;
  /** Passes an event to the listeners. */
  tell(event: ChangeEvent): void;
}

/** @param open watches the subject at the source */
export function createWatched(subject: Subject, open: (watched: Watched) => Promise<AsyncDisposable>): Watched {
  const listeners = new Set<OnChange>();
  const waiting = new Set<(covers: boolean) => void>();
  let placed: Promise<AsyncDisposable> | undefined;

  const watched: Watched = {
    subject,
    listeners,
    mark: 0,
    covered: false,
    established: false,
    missed: false,
    recovering: false,
    restsUntil: 0,
    ready: undefined,
    get placed() {
      return placed !== undefined;
    },

    async place() {
      placed ??= open(watched);
      const opening = placed;
      try {
        await opening;
      } catch (error) {
        if (placed === opening) placed = undefined;
        throw error;
      }
    },

    async unplace() {
      const before = placed;
      placed = undefined;
      const handle = await before?.catch(() => undefined);
      await handle?.[Symbol.asyncDispose]();
    },

    answer: (patienceMs) =>
      new Promise((resolve) => {
        const settle = (covers: boolean): void => {
          waiting.delete(settle);
          clearTimeout(timer);
          resolve(covers);
        };
        const timer = setTimeout(() => settle(false), patienceMs);
        timer.unref();
        waiting.add(settle);
      }),

    answered(covers) {
      watched.covered = covers;
      for (const settle of [...waiting]) settle(covers);
    },

    tell(event) {
      for (const listener of [...listeners]) listener(event);
    },
  };
  return watched;
}
