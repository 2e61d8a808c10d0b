/** Everything that replicas say to each other about the watches on one source. */
import type { Bus } from '../../core/bus.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import type { Subject } from './subject.ts';

/** The most subjects in one message. */
const MAX_SUBJECTS = 500;

/** How long subjects wait to be said together, in milliseconds. */
const GATHER_MS = 2;

/** Changes of one subject are told at most once in so many milliseconds. */
export const CHANGE_MS = 50;

/** A subject, and the number of the time that it was asked for: an answer is to that time and no other one. */
export type Want = readonly [subject: Subject, mark: number];

/** Something that another replica says; `from` tells replicas apart. */
export type Word = { readonly from: string } & (
  | {
      readonly kind: 'wants';
      readonly more: readonly Want[];
      readonly less: readonly Subject[];
      /** Nothing is wanted beside these, and what is said of the same in the next messages. */
      readonly anew: boolean;
    }
  /** It is there, and wants so many. */
  | { readonly kind: 'here'; readonly count: number }
  /** It has the lease, and asks that one, or all, for what they want. */
  | { readonly kind: 'holding'; readonly to?: string | undefined }
  /** It watches these for that replica from now on, or cannot. */
  | { readonly kind: 'watching' | 'refused'; readonly to: string; readonly wants: readonly Want[] }
  | { readonly kind: 'changed'; readonly subject: Subject; readonly event: ChangeEvent }
  /** It has given the lease back. */
  | { readonly kind: 'left' }
);

export interface Speech {
  /** Wants one more. */
  want(want: Want): void;
  /** Wants one less. */
  unwant(subject: Subject): void;
  /** Wants these and nothing else. */
  wantAll(wants: readonly Want[]): void;
  here(count: number): void;
  holding(to?: string): void;
  watching(to: string, want: Want, placed: boolean): void;
  changed(subject: Subject, event: ChangeEvent): void;
  left(): void;
  /** Says nothing that waits any more. */
  close(): void;
}

/** @param from this replica; @param topic of the source */
export function createSpeech(bus: Bus, topic: string, from: string): Speech {
  /** In the order in which they were said last. */
  const wants = new Map<Subject, Want | undefined>();
  /** Answers by the replica that they are for. */
  const answers = new Map<string, { readonly want: Want; readonly placed: boolean }[]>();
  /** Subjects whose change was told a little while ago, with the change that is to be told next. */
  const told = new Map<Subject, ChangeEvent | undefined>();
  const timers = new Set<NodeJS.Timeout>();
  let gathering: NodeJS.Timeout | undefined;

  const say = (word: Word): void => bus.publish(topic, word);

  function after(ms: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timer.unref();
    timers.add(timer);
    return timer;
  }

  function put(subject: Subject, want: Want | undefined): void {
    wants.delete(subject);
    wants.set(subject, want);
    gathering ??= after(GATHER_MS, flush);
  }

  function flush(): void {
    if (gathering !== undefined) {
      clearTimeout(gathering);
      timers.delete(gathering);
      gathering = undefined;
    }
    for (const part of partsOf([...wants])) {
      const more = part.flatMap(([, want]) => (want === undefined ? [] : [want]));
      const less = part.flatMap(([subject, want]) => (want === undefined ? [subject] : []));
      say({ from, kind: 'wants', more, less, anew: false });
    }
    wants.clear();
    for (const [to, all] of answers) {
      for (const [kind, is] of [
        ['watching', true],
        ['refused', false],
      ] as const)
        for (const part of partsOf(all.filter(({ placed }) => placed === is)))
          say({ from, kind, to, wants: part.map(({ want }) => want) });
    }
    answers.clear();
  }

  function tell(subject: Subject, event: ChangeEvent): void {
    say({ from, kind: 'changed', subject, event });
    told.set(subject, undefined);
    after(CHANGE_MS, () => {
      const next = told.get(subject);
      told.delete(subject);
      if (next !== undefined) tell(subject, next);
    });
  }

  return {
    want: (want) => put(want[0], want),
    unwant: (subject) => put(subject, undefined),
    wantAll(all) {
      wants.clear();
      const parts = partsOf(all);
      for (const [at, more] of (parts.length > 0 ? parts : [[]]).entries())
        say({ from, kind: 'wants', more, less: [], anew: at === 0 });
    },
    here(count) {
      flush();
      say({ from, kind: 'here', count });
    },
    holding: (to) => say({ from, kind: 'holding', ...(to !== undefined && { to }) }),
    watching(to, want, placed) {
      const all = answers.get(to) ?? [];
      answers.set(to, all);
      all.push({ want, placed });
      gathering ??= after(GATHER_MS, flush);
    },
    changed(subject, event) {
      if (told.has(subject)) told.set(subject, event);
      else tell(subject, event);
    },
    left: () => say({ from, kind: 'left' }),
    close() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

function partsOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let at = 0; at < all.length; at += MAX_SUBJECTS) parts.push(all.slice(at, at + MAX_SUBJECTS));
  return parts;
}
