/** Ends streams when the last token of their client has expired, so that a client without access hears nothing more. */

/**
 * How long a stream that answers a request goes on after its token has expired, in milliseconds. The request was allowed, and
 * its client may get a new token only when a request is refused, so it would lose the answer.
 */
export const ANSWER_GRACE_MS = 60_000;

/** The longest wait of a Node.js timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Knows when the access of one peer ends. A token that expires later moves that time. A timer runs only while a callback waits.
 */
export class Expiry {
  #ends: number;
  #timer: NodeJS.Timeout | undefined;
  #waiting: Set<Waiting> | undefined;

  /** @param until as in `renew` */
  constructor(until?: number) {
    this.#ends = until ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the access never ends. */
  get never(): boolean {
    return this.#ends === Number.POSITIVE_INFINITY;
  }

  /**
   * Notes another token; one that expires earlier changes nothing.
   * @param until in milliseconds since 1970. Default: never expires
   */
  renew(until: number | undefined): void {
    const later = until ?? Number.POSITIVE_INFINITY;
    if (later <= this.#ends) return;
    this.#ends = later;
    this.#wait();
  }

  /**
   * @param end called once, `graceMs` milliseconds after the access has ended
   * @returns removes the callback
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
    this.#timer = setTimeout(() => this.#endDue(), Math.min(Math.max(first - Date.now(), 0), MAX_TIMER_MS));
    this.#timer.unref();
  }

  #endDue(): void {
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
