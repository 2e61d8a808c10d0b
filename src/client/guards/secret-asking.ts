/** Finds out whether a text asks for a secret, in any of many languages and with look-alike letters. */
import { foldText, skeletonOf } from './look-alikes.ts';
import { SECRET_WORDS } from './secret-words.ts';

/** The fewest letters of a Latin word that is also found within a longer word. */
const MIN_PART = 7;

/** The most UTF-16 units of a text. A longer text counts as asking for a secret: no honest form needs it. */
const MAX_TEXT = 16_384;

interface Patterns {
  readonly plain: RegExp;
  readonly skeleton: RegExp;
}

/** Made when the first form comes, because it takes as long as loading the rest of the package. */
let patterns: Patterns | undefined;

function makePatterns(): Patterns {
  const folded = [...new Set(Object.values(SECRET_WORDS).flat())].map((word) => foldText(word));
  return { plain: patternOf(folded), skeleton: patternOf(folded.map(skeletonOf)) };
}

/** Makes one pattern of all words that takes linear time. */
function patternOf(words: readonly string[]): RegExp {
  const alternatives = words.map((word) => {
    const isStem = word.endsWith('*');
    const stem = isStem ? word.slice(0, -1) : word;
    const parts = stem.split(/[^\p{L}\p{M}\p{N}]+/u).filter((part) => part !== '');
    const flexible = parts.join('[\\s\\p{P}\\p{S}]{0,3}');
    const isShort = /^\p{Script=Latin}/u.test(stem) && parts.join('').length < MIN_PART;
    if (!isShort && !isStem) return flexible;
    return `(?<!\\p{L})${flexible}${isStem ? '' : '(?!\\p{L})'}`;
  });
  return new RegExp(alternatives.join('|'), 'u');
}

/** @param text the names and texts of a field, or the message of a form */
export function asksForSecret(text: string): boolean {
  if (text.length > MAX_TEXT) return true;
  // Splits the words of names such as `apiKey`.
  const folded = foldText(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'));
  patterns ??= makePatterns();
  return patterns.plain.test(folded) || patterns.skeleton.test(skeletonOf(folded));
}
