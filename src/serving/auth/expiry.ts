/** Streams end with the token that they were opened with: nothing is told to who may not ask any more. */

/**
 * How long a stream that answers a request goes on after the token has expired, in milliseconds: the request was
 * allowed, and clients that get a new token when they are refused would lose the answer.
 */
export const ANSWER_GRACE_MS = 60_000;

/** The longest time that a timer of Node can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** When the access of one peer ends; it moves on as newer tokens come. There is a timer only while something waits. */
export class Expiry {
  #ends: number;
  #timer: NodeJS.Timeout | undefined;
  #waiting: Set<Waiting> | undefined;

  /** @param until as in `renew` */
  constructor(until?: number) {
    this.#ends = until ?? Number.POSITIVE_INFINITY;
  }

  /** Whether it does not end. */
  get never(): boolean {
    return this.#ends === Number.POSITIVE_INFINITY;
  }

  /** A token came that is good until then, in milliseconds since 1970; undefined is one that is good for ever. */
  renew(until: number | undefined): void {
    const later = until ?? Number.POSITIVE_INFINITY;
    if (later <= this.#ends) return;
    this.#ends = later;
    this.#wait();
  }

  /**
   * @param end is called once, this many milliseconds after the access has ended
   * @returns takes it back
   */
  onEnd(end: () => void, graceMs: number): () => void {
    const each = { end, graceMs };
    this.#waiting ??= new Set();
    this.#waiting.add(each);
    this.#wait();
    return () => {
      if (this.#waiting?.delete(each)) this.#wait();
    };
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting === undefined || this.#waiting.size === 0 || this.never) return;
    const first = this.#ends + Math.min(...[...this.#waiting].map(({ graceMs }) => graceMs));
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.max(first - Date.now(), 0), MAX_TIMER_MS));
    this.#timer.unref();
  }

  #look(): void {
    const now = Date.now();
    for (const each of [...(this.#waiting ?? [])]) {
      if (now < this.#ends + each.graceMs) continue;
      this.#waiting?.delete(each);
      each.end();
    }
    this.#wait();
  }
}

interface Waiting {
  readonly end: () => void;
  readonly graceMs: number;
}
