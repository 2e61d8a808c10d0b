/** The requests of this page and their answers, for the wire drawer. */

export interface Exchange {
  readonly id: number;
  readonly method: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The JSON that was sent. */
  readonly request: string;
  /** The text that came back, cut at `MAX_KEPT` characters; undefined while it has not come. */
  readonly answer?: string | undefined;
  /** Bytes of the whole answer. */
  readonly bytes?: number | undefined;
  /** Milliseconds until the whole answer was there. */
  readonly ms?: number | undefined;
  /** The status of HTTP; undefined where there was no answer. */
  readonly status?: number | undefined;
}

/** Exchanges that are remembered. */
export const MAX_EXCHANGES = 200;

/** The most characters of an answer that are remembered. */
export const MAX_KEPT = 64 * 1024;
