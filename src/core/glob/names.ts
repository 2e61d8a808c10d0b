/** Makes the glob of a search for names. */

/**
 * Returns the glob for names with these words in them. Words that have `*`, `?`, `[` or `{` are the glob themselves; in others,
 * each character stands for itself.
 */
export const globOfNames = (words: string): string =>
  /[*?[{]/.test(words) ? words : `*${words.replace(/[\\\]}(]/g, String.raw`\$&`)}*`;
