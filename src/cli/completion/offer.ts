/** Offers words for the one that is typed. */

export interface Offer {
  readonly values: readonly Offered[];
  /** Names of files are completed, too, by the shell itself. */
  readonly files?: boolean;
  /** No space comes behind them: there is more to type. */
  readonly open?: boolean;
}

interface Offered {
  readonly value: string;
  readonly about?: string;
}

/**
 * Values that others made. One that a shell would take for more than a word is not offered, so that none is ever carried
 * out: scripts of shells put some of them into the command line as they are.
 */
export const plain = (values: readonly string[]): readonly Offered[] =>
  values.filter((value) => PLAIN.test(value)).map((value) => ({ value }));

const PLAIN = /^[\p{L}\p{N}_./:@%+,][\p{L}\p{N}_./:@%+,=~-]*$/u;
