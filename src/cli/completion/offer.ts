/** The type of an offer: the words that can complete the typed one. */

/** The words that can complete a command line. */
export interface Offer {
  readonly values: readonly Offered[];
  /** Whether the shell completes names of files, too. */
  readonly files?: boolean;
  /** Whether the user goes on typing, so that the shell adds no space. */
  readonly open?: boolean;
}

interface Offered {
  readonly value: string;
  readonly about?: string;
}

/**
 * Offers values that come from a server or a file. A value that a shell could take for more than one word is left out, because
 * scripts of shells put values into the command line unquoted, and a command in a value would be run.
 */
export const plain = (values: readonly string[]): readonly Offered[] =>
  values.filter((value) => PLAIN.test(value)).map((value) => ({ value }));

const PLAIN = /^[\p{L}\p{N}_./:@%+,][\p{L}\p{N}_./:@%+,=~-]*$/u;
