/** A first-in, first-out queue that any member may leave. Every operation takes constant time. */

/** A place in the queue. */
export interface QueuePlace<T> {
  readonly value: T;
  before: QueuePlace<T> | undefined;
  behind: QueuePlace<T> | undefined;
  /** Whether the place is still in the queue. */
  in: boolean;
}

export interface Line<T> {
  /** Undefined where the queue is empty. */
  readonly first: T | undefined;
  readonly length: number;
  /** Joins at the end. */
  join(value: T): QueuePlace<T>;
  /** Leaves the queue from any place; does nothing after the first time. */
  leave(place: QueuePlace<T>): void;
  /** Removes and returns the first one. */
  shift(): T | undefined;
}

export function createLine<T>(): Line<T> {
  let first: QueuePlace<T> | undefined;
  let last: QueuePlace<T> | undefined;
  let length = 0;

  function leave(place: QueuePlace<T>): void {
    if (!place.in) return;
    const { before, behind } = place;
    if (before === undefined) first = behind;
    else before.behind = behind;
    if (behind === undefined) last = before;
    else behind.before = before;
    place.in = false;
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
      const place: QueuePlace<T> = { value, before: last, behind: undefined, in: true };
      if (last === undefined) first = place;
      else last.behind = place;
      last = place;
      length++;
      return place;
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
