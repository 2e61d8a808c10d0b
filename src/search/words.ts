/**
 * How text is cut into words, in the index and in questions alike. The tokenizer of SQLite cuts at spaces and signs, which
 * Chinese, Japanese, Thai and their like do not write: there each character is a word, and what is asked for is a phrase of them.
 */

/** Characters of scripts that are written without spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/gu;

/** The text with such characters apart. */
export const apart = (text: string): string => (isPlain(text) ? text : text.replace(UNSPACED, ' $& '));

/** Words as the tokenizer sees them: letters, marks, numbers, and what is for private use. */
const WORD = /[\p{L}\p{M}\p{N}\p{Co}]+/gu;

/** The most texts have letters of English only, of which less is to be found out. */
export const isPlain = (text: string): boolean => !/[^\0-\x7f]/.test(text);
const PLAIN_WORD = /[A-Za-z0-9]+/g;

/** The words of a text, in their order. */
export const wordsOf = (text: string): readonly string[] =>
  (isPlain(text) ? text.match(PLAIN_WORD) : apart(text).match(WORD)) ?? [];

/** A word, or words, without case and diacritics. */
export const folded = (word: string): string =>
  isPlain(word) ? word.toLowerCase() : word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Words of English that say nothing of what a text is about; they are looked for only where nothing else is. */
const COMMON: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my ' +
    'of on or our should so than that the their them then there these they this to us was we were what when where ' +
    'which who whose why will with would you your'
  ).split(' '),
);

export const isCommon = (word: string): boolean => COMMON.has(folded(word));
