/** Splits long work on the event loop into pieces, between which other work has its turn. */

/** How long a piece may take, in milliseconds. */
const PIECE_MS = 10;

/**
 * Work that ends more than this after its last break takes one more, in milliseconds: so work that follows begins a new piece.
 */
const END_MS = 2;

/** In browsers, which have no `setImmediate`, a timer is a turn, too. */
const inTurn: (act: () => void) => unknown = typeof setImmediate === 'function' ? setImmediate : setTimeout;

/**
 * Resolves when timers and data from sockets have had their turn. One `setImmediate` is not enough: from the callback of a
 * socket, it runs before any timer and any other socket.
 */
export const giveWay = (): Promise<void> => new Promise((resolve) => inTurn(() => inTurn(resolve)));

export interface Breaks {
  /** Call it between two steps of the work. If it returns a promise, the piece was long enough: wait for the promise. */
  (): Promise<void> | undefined;
  /** Call it at the end of the work, in the same way: then the next work begins a new piece. */
  end(): Promise<void> | undefined;
}

/**
 * Begins long work, and returns a function that says when the work should take a break.
 *
 * @example
 * const taken = breaks();
 * for (const value of values) {
 *   work(value);
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

/** Maps values in their order. If this takes long, other work has its turn in between. */
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
