/** A value that components show; they are drawn again when it changes. */
import { useEffect, useState } from 'preact/hooks';

export interface Cell<T> {
  get(): T;
  set(value: T): void;
  /** @returns a function that stops following */
  follow(look: (value: T) => void): () => void;
}

export function cell<T>(first: T): Cell<T> {
  let value = first;
  const lookers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const look of [...lookers]) look(value);
    },
    follow(look) {
      lookers.add(look);
      return () => lookers.delete(look);
    },
  };
}

/** Returns the value of a cell, in a component. */
export function useCell<T>(of: Cell<T>): T {
  const [, draw] = useState(0);
  const drawn = of.get();
  useEffect(() => {
    const again = (): void => draw((times) => times + 1);
    const end = of.follow(again);
    // It may have changed since it was drawn.
    if (of.get() !== drawn) again();
    return end;
  }, [of]);
  return drawn;
}
