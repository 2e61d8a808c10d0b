/** The subjects that other replicas want of the one that has the lease. */
import type { Want, Word } from './speech.ts';
import type { Subject } from './subject.ts';

/** The most subjects of one source that other replicas may want. */
export const MAX_OTHERS = 50_000;

/** A replica that was not heard of for so long has ended, in milliseconds. */
export const GONE_MS = 10_000;

interface Other {
  readonly wants: Set<Subject>;
  /** Subjects for which there was no room. */
  readonly over: Set<Subject>;
  heard: number;
}

export interface Others {
  /** Whether one of them wants it. */
  want(subject: Subject): boolean;
  /** @returns the subjects that are wanted anew, and those for which there is no room */
  heard(word: Extract<Word, { kind: 'wants' }>): {
    readonly more: readonly Want[];
    readonly over: readonly Want[];
  };
  /** Notes that a replica is there. @returns whether it is known what it wants */
  here(word: Extract<Word, { kind: 'here' }>): boolean;
  /** Forgets those that have ended. */
  sweep(): void;
  clear(): void;
}

/** @param elapsed milliseconds by a clock that nobody sets */
export function createOthers(elapsed: () => number): Others {
  const others = new Map<string, Other>();
  const count = (): number => [...others.values()].reduce((sum, { wants }) => sum + wants.size, 0);

  return {
    want: (subject) => [...others.values()].some(({ wants }) => wants.has(subject)),
    heard({ from, more, less, anew }) {
      const known = anew ? undefined : others.get(from);
      const other = known ?? { wants: new Set(), over: new Set(), heard: 0 };
      others.set(from, other);
      other.heard = elapsed();
      for (const each of less) if (!other.wants.delete(each)) other.over.delete(each);
      const room = Math.max(0, MAX_OTHERS - count());
      const [taken, over] = [more.slice(0, room), more.slice(room)];
      for (const [subject] of taken) other.wants.add(subject);
      for (const [subject] of over) other.over.add(subject);
      return { more: taken, over };
    },
    here({ from, count: wanted }) {
      const known = others.get(from);
      if (known === undefined) return wanted === 0;
      known.heard = elapsed();
      return known.wants.size + known.over.size === wanted;
    },
    sweep() {
      for (const [from, { heard }] of others) if (elapsed() - heard > GONE_MS) others.delete(from);
    },
    clear: () => others.clear(),
  };
}
