/** A first-in, first-out queue that any member may leave. Every operation takes constant time. */

/** A place in the queue. */
export interface Standing<T> {
  readonly value: T;
  before: Standing<T> | undefined;
  behind: Standing<T> | undefined;
  /** Whether it is still in the queue. */
  in: boolean;
}

export interface Line<T> {
  /** Undefined where the queue is empty. */
  readonly first: T | undefined;
  readonly length: number;
  /** Joins at the end. */
  join(value: T): Standing<T>;
  /** Leaves the queue from any place; does nothing after the first time. */
  leave(standing: Standing<T>): void;
  /** Removes and returns the first one. */
  shift(): T | undefined;
}

export function createLine<T>(): Line<T> {
  let first: Standing<T> | undefined;
  let last: Standing<T> | undefined;
  let length = 0;

  function leave(standing: Standing<T>): void {
    if (!standing.in) return;
    const { before, behind } = standing;
    if (before === undefined) first = behind;
    else before.behind = behind;
    if (behind === undefined) last = before;
    else behind.before = before;
    standing.in = false;
    length--;
  }

  return {
    get first() {
      return first?.value;
    },
    get length() {
      return length;
    },
    join(value) {
      const standing: Standing<T> = { value, before: last, behind: undefined, in: true };
      if (last === undefined) first = standing;
      else last.behind = standing;
      last = standing;
      length++;
      return standing;
    },
    leave,
    shift() {
      const taken = first;
      if (taken === undefined) return undefined;
      leave(taken);
      return taken.value;
    },
  };
}
