/** Whether a text asks for a secret, in whatever language and letters. */
import { foldText, skeletonOf } from './look-alikes.ts';
import { SECRET_WORDS } from './secret-words.ts';

/** Letters of a Latin word that may be part of another one. */
const MIN_PART = 7;

/** UTF-16 units of a text that are looked at; a longer one is for no form. */
const MAX_TEXT = 16_384;

interface Patterns {
  readonly plain: RegExp;
  readonly skeleton: RegExp;
}

/** Made when the first form comes: it takes as long as all else that is loaded before. */
let patterns: Patterns | undefined;

function makePatterns(): Patterns {
  const folded = [...new Set(Object.values(SECRET_WORDS).flat())].map((word) => foldText(word));
  return { plain: patternOf(folded), skeleton: patternOf(folded.map(skeletonOf)) };
}

/** One pattern for all words, without anything that takes more than linear time. */
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

/** @param text names and texts of a field, or of a form */
export function asksForSecret(text: string): boolean {
  if (text.length > MAX_TEXT) return true;
  // A name may have its words run together: `apiKey`.
  const folded = foldText(text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'));
  patterns ??= makePatterns();
  return patterns.plain.test(folded) || patterns.skeleton.test(skeletonOf(folded));
}
