/** Keeps, in the replica with the lease, which subjects each of the other replicas wants it to watch. */
import type { Message, Want } from './speech.ts';
import type { Subject } from './subject.ts';

/** The most subjects of one source that other replicas may want. */
export const MAX_OTHERS = 50_000;

/** A replica that has sent nothing for this many milliseconds counts as ended. */
export const GONE_MS = 10_000;

interface Other {
  readonly wants: Set<Subject>;
  /** The subjects that it wants, and for which there was no room in `wants`. */
  readonly over: Set<Subject>;
  /** When its last message came, in milliseconds by `elapsed`. */
  heardAt: number;
}

export interface Others {
  /** Whether another replica wants a subject. */
  want(subject: Subject): boolean;
  /** Notes what a replica wants. @returns the subjects that it newly wants (`more`), and those for which there is no room (`over`) */
  heard(message: Extract<Message, { kind: 'wants' }>): {
    readonly more: readonly Want[];
    readonly over: readonly Want[];
  };
  /** Notes that a replica is running. @returns whether all that it wants has been noted */
  here(message: Extract<Message, { kind: 'here' }>): boolean;
  /** Forgets replicas that have ended. */
  sweep(): void;
  clear(): void;
}

/** @param elapsed the milliseconds of a monotonic clock */
export function createOthers(elapsed: () => number): Others {
  const others = new Map<string, Other>();
  const count = (): number => [...others.values()].reduce((sum, { wants }) => sum + wants.size, 0);

  return {
    want: (subject) => [...others.values()].some(({ wants }) => wants.has(subject)),
    heard({ from, more, less, anew }) {
      const existing = anew ? undefined : others.get(from);
      const other = existing ?? { wants: new Set(), over: new Set(), heardAt: 0 };
      others.set(from, other);
      other.heardAt = elapsed();
      for (const each of less) if (!other.wants.delete(each)) other.over.delete(each);
      const room = Math.max(0, MAX_OTHERS - count());
      const [taken, over] = [more.slice(0, room), more.slice(room)];
      for (const [subject] of taken) other.wants.add(subject);
      for (const [subject] of over) other.over.add(subject);
      return { more: taken, over };
    },
    here({ from, count: wanted }) {
      const other = others.get(from);
      if (other === undefined) return wanted === 0;
      other.heardAt = elapsed();
      return other.wants.size + other.over.size === wanted;
    },
    sweep() {
      for (const [from, { heardAt }] of others) if (elapsed() - heardAt > GONE_MS) others.delete(from);
    },
    clear: () => others.clear(),
  };
}
