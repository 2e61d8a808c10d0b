/** Holds values that components show. A component is drawn again when its value changes. */
import { useEffect, useState } from 'preact/hooks';

export interface Cell<T> {
  get(): T;
  set(value: T): void;
  /** Calls back after each change. @returns a function that ends this */
  follow(onChange: (value: T) => void): () => void;
}

export function cell<T>(first: T): Cell<T> {
  let value = first;
  const followers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const onChange of [...followers]) onChange(value);
    },
    follow(onChange) {
      followers.add(onChange);
      return () => followers.delete(onChange);
    },
  };
}

/** A hook that returns the value of a cell and draws the component again when it changes. */
export function useCell<T>(of: Cell<T>): T {
  const [, draw] = useState(0);
  const drawn = of.get();
  useEffect(() => {
    const redraw = (): void => draw((times) => times + 1);
    const unfollow = of.follow(redraw);
    // The value may have changed since the component was drawn.
    if (of.get() !== drawn) redraw();
    return unfollow;
  }, [of]);
  return drawn;
}
