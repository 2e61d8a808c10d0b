/** Declares the places that a ranked search finds. */

/** A part of a resource that fits a query. */
export interface Passage {
  /** Its lines, from 1; undefined if the resource has no text and only its name, title or description fits. */
  readonly lines?: { readonly first: number; readonly last: number } | undefined;
  /** The place of its bytes. It is valid as long as the resource has the size `size` and the time `changed`. */
  readonly bytes?: { readonly offset: number; readonly length: number } | undefined;
  readonly size?: number | undefined;
  readonly changed?: string | undefined;
  /** The headings above it, with ` > ` between them. */
  readonly heading?: string | undefined;
  readonly page?: number | undefined;
  /**
   * The caller's right to read the resource does not follow from its URI alone. Its rank must not be shown before a read has
   * been allowed.
   */
  readonly unsure?: boolean | undefined;
  /** The passage was found by its meaning: it may contain none of the words. */
  readonly meant?: boolean | undefined;
  /** Returns the terms of the query that the texts contain. */
  readonly fits: (texts: readonly string[]) => Fit;
}

/** The terms of a query that texts contain, by their numbers. */
export interface Fit {
  /** The terms in each of the texts. */
  readonly each: readonly ReadonlySet<number>[];
  /** The terms in all texts together: the words of one term may be spread over several texts. */
  readonly together: ReadonlySet<number>;
}
