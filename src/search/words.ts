/**
 * How text is cut into words, in the index and in questions alike. The tokenizer of SQLite cuts at spaces and signs. Chinese,
 * Japanese, Thai and some other scripts have no spaces between words: each of their characters counts as a word, and a question
 * looks for a phrase of such characters.
 */

/** Characters of scripts that are written without spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/gu;

/** The text with a space before and after each character of those scripts. */
export const apart = (text: string): string => (isPlain(text) ? text : text.replace(UNSPACED, ' $& '));

/** Words as the tokenizer sees them: letters, marks, numbers, and characters for private use. */
const WORD = /[\p{L}\p{M}\p{N}\p{Co}]+/gu;

/** Whether a text has ASCII characters only. Most texts do, and their words are found faster. */
export const isPlain = (text: string): boolean => !/[^\0-\x7f]/.test(text);
const PLAIN_WORD = /[A-Za-z0-9]+/g;

/** The words of a text, in their order. */
export const wordsOf = (text: string): readonly string[] =>
  (isPlain(text) ? text.match(PLAIN_WORD) : apart(text).match(WORD)) ?? [];

/** A text in lower case and without diacritics, for comparison. */
export const folded = (word: string): string =>
  isPlain(word) ? word.toLowerCase() : word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** English words that do not tell what a text is about. A question looks for them only if it has no other words. */
const COMMON: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my ' +
    'of on or our should so than that the their them then there these they this to us was we were what when where ' +
    'which who whose why will with would you your'
  ).split(' '),
);

export const isCommon = (word: string): boolean => COMMON.has(folded(word));
