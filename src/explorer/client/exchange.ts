/** Declares an exchange, which is a request of this page with its answer. The wire drawer shows them. */

export interface Exchange {
  readonly id: number;
  readonly method: string;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  /** The JSON that was sent. */
  readonly request: string;
  /** The text of the answer, cut at `MAX_KEPT` characters; undefined until it has come. */
  readonly answer?: string | undefined;
  /** Bytes of the whole answer. */
  readonly bytes?: number | undefined;
  /** Milliseconds until the answer was complete. */
  readonly ms?: number | undefined;
  /** The HTTP status; undefined if there was no answer. */
  readonly status?: number | undefined;
}

/** The most exchanges that are remembered. */
export const MAX_EXCHANGES = 200;

/** The most characters of an answer that are remembered. */
export const MAX_KEPT = 64 * 1024;
