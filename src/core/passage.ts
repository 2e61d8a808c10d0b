/** The places that a ranked search finds. */

/** A part of a resource that fits a question. */
export interface Passage {
  /** Its lines, from 1; undefined where there is no text, and only what is said of the resource fits. */
  readonly lines?: { readonly first: number; readonly last: number } | undefined;
  /** The place of its bytes, in a resource that still has this size and time. */
  readonly bytes?: { readonly offset: number; readonly length: number } | undefined;
  readonly size?: number | undefined;
  readonly changed?: string | undefined;
  /** Headings that it stands under, with ` > ` between them. */
  readonly heading?: string | undefined;
  readonly page?: number | undefined;
  /**
   * Others decide whether the caller may read it, by more than its URI: then its place in the order may not be told before
   * it has been read.
   */
  readonly unsure?: boolean | undefined;
  /** It was found by meaning: it may have none of the words. */
  readonly meant?: boolean | undefined;
  /** Which terms of the question texts have. */
  readonly fits: (texts: readonly string[]) => Fit;
}

/** The terms of a question that texts have, by their numbers. */
export interface Fit {
  readonly each: readonly ReadonlySet<number>[];
  /** Of all the texts: a term of several words may have one of them in this text and one in that. */
  readonly together: ReadonlySet<number>;
}
