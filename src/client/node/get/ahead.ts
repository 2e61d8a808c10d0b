/**
 * Takes values from an iterable before they are wanted, until `limit` of them wait. An error of the iterable is thrown after
 * the values before it.
 */
export async function* ahead<T>(source: AsyncIterable<T>, limit: number): AsyncGenerator<T, void, undefined> {
  const ready: T[] = [];
  let over: { readonly error?: unknown } | undefined;
  let left = false;
  let wake = (): void => {};
  /** Resolves at the next step of either side. */
  const step = (): Promise<void> =>
    new Promise((resolve) => {
      const before = wake;
      wake = () => {
        before();
        resolve();
      };
    });
  function tell(): void {
    const told = wake;
    wake = () => {};
    told();
  }

  async function fill(): Promise<void> {
    for await (const value of source) {
      ready.push(value);
      tell();
      while (ready.length >= limit && !left) await step();
      if (left) return;
    }
  }

  const filling = fill().then(
    () => {
      over = {};
    },
    (error: unknown) => {
      over = { error };
    },
  );
  filling.then(tell, tell);
  try {
    for (;;) {
      while (ready.length === 0 && over === undefined) await step();
      if (ready.length === 0) break;
      yield ready.shift() as T;
      tell();
    }
    if (over !== undefined && 'error' in over) throw over.error;
  } finally {
    left = true;
    tell();
    await filling;
  }
}
