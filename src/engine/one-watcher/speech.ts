/** Sends the messages of replicas to each other about the watches on one source. */
import type { Bus } from '../../core/bus.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import type { Subject } from './subject.ts';

/** The most subjects in one message. */
const MAX_SUBJECTS = 500;

/** How long subjects are gathered before they are sent in one message, in milliseconds. */
const GATHER_MS = 2;

/** The shortest time between two messages about changes of the same subject, in milliseconds. */
export const CHANGE_MS = 50;

/**
 * A subject, and the number of the request for it. An answer repeats the number, so that answers to earlier requests are ignored.
 */
export type Want = readonly [subject: Subject, mark: number];

/** A message of a replica. `from` identifies the replica. */
export type Message = { readonly from: string } & (
  | {
      /** The sender wants more subjects to be watched, and no longer wants others. */
      readonly kind: 'wants';
      readonly more: readonly Want[];
      readonly less: readonly Subject[];
      /** Whether this message begins a complete list, which the next messages may continue. Earlier wants are then void. */
      readonly anew: boolean;
    }
  /** The sender is running, and wants `count` subjects. */
  | { readonly kind: 'here'; readonly count: number }
  /** The sender has the lease, and asks one replica, or all, for what they want. */
  | { readonly kind: 'holding'; readonly to?: string | undefined }
  /** The sender watches these subjects for that replica from now on (`watching`), or cannot (`refused`). */
  | { readonly kind: 'watching' | 'refused'; readonly to: string; readonly wants: readonly Want[] }
  /** The sender has seen a change. */
  | { readonly kind: 'changed'; readonly subject: Subject; readonly event: ChangeEvent }
  /** The sender has given the lease back. */
  | { readonly kind: 'left' }
);

export interface Speech {
  /** Says that this replica wants one more subject. */
  want(want: Want): void;
  /** Says that this replica no longer wants a subject. */
  unwant(subject: Subject): void;
  /** Says that this replica wants these subjects and no others. */
  wantAll(wants: readonly Want[]): void;
  here(count: number): void;
  holding(to?: string): void;
  watching(to: string, want: Want, placed: boolean): void;
  changed(subject: Subject, event: ChangeEvent): void;
  left(): void;
  /** Drops messages that have not been sent yet. */
  close(): void;
}

/** @param topic the topic of the source on the bus @param from identifies this replica */
export function createSpeech(bus: Bus, topic: string, from: string): Speech {
  /** The wants that are sent next, in the order of their last change; undefined for a subject that is no longer wanted. */
  const wants = new Map<Subject, Want | undefined>();
  /** The answers that are sent next, by the replica that gets them. */
  const answers = new Map<string, { readonly want: Want; readonly placed: boolean }[]>();
  /** Subjects of which a change was sent in the last `CHANGE_MS`, with the change that is sent next, if there is one. */
  const recent = new Map<Subject, ChangeEvent | undefined>();
  const timers = new Set<NodeJS.Timeout>();
  let gathering: NodeJS.Timeout | undefined;

  const send = (message: Message): void => bus.publish(topic, message);

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
      send({ from, kind: 'wants', more, less, anew: false });
    }
    wants.clear();
    for (const [to, all] of answers) {
      for (const [kind, isPlaced] of [
        ['watching', true],
        ['refused', false],
      ] as const)
        for (const part of partsOf(all.filter(({ placed }) => placed === isPlaced)))
          send({ from, kind, to, wants: part.map(({ want }) => want) });
    }
    answers.clear();
  }

  function tell(subject: Subject, event: ChangeEvent): void {
    send({ from, kind: 'changed', subject, event });
    recent.set(subject, undefined);
    after(CHANGE_MS, () => {
      const next = recent.get(subject);
      recent.delete(subject);
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
        send({ from, kind: 'wants', more, less: [], anew: at === 0 });
    },
    here(count) {
      flush();
      send({ from, kind: 'here', count });
    },
    holding: (to) => send({ from, kind: 'holding', ...(to !== undefined && { to }) }),
    watching(to, want, placed) {
      const all = answers.get(to) ?? [];
      answers.set(to, all);
      all.push({ want, placed });
      gathering ??= after(GATHER_MS, flush);
    },
    changed(subject, event) {
      if (recent.has(subject)) recent.set(subject, event);
      else tell(subject, event);
    },
    left: () => send({ from, kind: 'left' }),
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
