/** One subject that is watched: by this replica at the source, or by another one that tells of it over the bus. */
import type { ChangeEvent } from '../../core/provider.ts';
import type { Subject } from './subject.ts';

export type OnChange = (event: ChangeEvent) => void;

export interface Watched {
  readonly subject: Subject;
  /** Those of this replica that want it. */
  readonly listeners: Set<OnChange>;
  /** The number of the time that it was asked for last: another answer is an old one. */
  mark: number;
  /** The replica that has the lease has said that it watches this. */
  covered: boolean;
  /** Changes have been heard of once, so that whoever wants it counts on that. */
  established: boolean;
  /** A change may have been missed, and nobody was told so yet. */
  missed: boolean;
  /** It is being seen to that changes are heard again. */
  recovering: boolean;
  /** When it may be tried again to watch it, by the clock that nobody sets. */
  restsUntil: number;
  /** Settles when changes are heard of for the first time. */
  ready: Promise<void> | undefined;
  /** Whether this replica watches it at the source, or is about to. */
  readonly placed: boolean;
  /** Watches it at the source. @throws what the source refuses with */
  place(): Promise<void>;
  /** Does not watch it at the source any more. */
  unplace(): Promise<void>;
  /** Waits for the replica that has the lease. @returns whether it watches this; false when the time is over, too */
  answer(patienceMs: number): Promise<boolean>;
  /** The answer, or that there is none. */
  answered(covers: boolean): void;
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
