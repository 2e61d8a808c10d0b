/** Long work on the event loop, in pieces between which others have their turn. */

/** How long a piece may take, in milliseconds. */
const PIECE_MS = 10;

/** How long work may take that ends here, so that what comes after it still begins in the same turn, in milliseconds. */
const END_MS = 2;

/** In browsers, which have no `setImmediate`, a timer is a turn, too. */
const inTurn: (act: () => void) => unknown = typeof setImmediate === 'function' ? setImmediate : setTimeout;

/**
 * Resolves when others had their turn: timers, and what has come over sockets. Before those the event loop runs what
 * `setImmediate` was given while it went through the ones before, so it takes two.
 */
export const giveWay = (): Promise<void> => new Promise((resolve) => inTurn(() => inTurn(resolve)));

export interface Breaks {
  /** Called between two steps of the work; where it gives a promise, it is time to wait for that. */
  (): Promise<void> | undefined;
  /** The same for the end of the work: whatever follows it is another piece. */
  end(): Promise<void> | undefined;
}

/**
 * @example
 * const taken = breaks();
 * for (const each of all) {
 *   work(each);
 *   await taken();
 * }
 */
export function breaks(): Breaks {
  let since = performance.now();
  const after = (ms: number): Promise<void> | undefined => {
    if (performance.now() - since < ms) return undefined;
    return giveWay().then(() => {
      since = performance.now();
    });
  };
  return Object.assign(() => after(PIECE_MS), { end: () => after(END_MS) });
}

/** Maps values in their order. Where there are many, it gives way to other work in between. */
export async function mapInPieces<T, U>(values: readonly T[], map: (value: T) => U): Promise<readonly U[]> {
  const mapped: U[] = [];
  const taken = breaks();
  for (const value of values) {
    const turn = taken();
    if (turn !== undefined) await turn;
    mapped.push(map(value));
  }
  await taken.end();
  return mapped;
}
