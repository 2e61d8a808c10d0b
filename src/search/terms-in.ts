/** Which terms of a question texts have, as far as that can be told without the index. */
import type { Fit } from '../core/passage.ts';
import type { Question } from './question.ts';
import { folded, isPlain, wordsOf } from './words.ts';

/** A word that is looked for. */
interface Part {
  readonly word: string;
  /** How a word of the text may be like it: the same, with this beginning, or perhaps another form. */
  readonly as: 'same' | 'prefix' | 'form';
}

/**
 * Makes the function that says which terms texts have, by their numbers: whoever shows a place looks whether what is asked for
 * is in what the caller may read. It looks at every word of what is shown, so that it makes no string of any.
 */
export function termsIn({ terms }: Question): (texts: readonly string[]) => Fit {
  const parts: Part[] = [];
  const placed = (part: Part): number => parts.push(part) - 1;
  const wanted = terms.map(({ words, prefix, forms = [] }) => ({
    parts: (prefix ? words.slice(-1) : words).map((word) =>
      placed({ word: folded(word), as: prefix ? 'prefix' : 'form' }),
    ),
    forms: forms.map((word) => placed({ word, as: 'same' })),
  }));
  const termsOf = (there: Uint8Array): ReadonlySet<number> => {
    const has = (part: number): boolean => there[part] === 1;
    return new Set(wanted.flatMap((term, at) => (term.parts.every(has) || term.forms.some(has) ? [at] : [])));
  };
  return (texts) => {
    const anywhere = new Uint8Array(parts.length);
    const each = texts.map((text) => {
      const there = new Uint8Array(parts.length);
      markParts(folded(text), parts, there);
      for (let part = 0; part < parts.length; part++) if (there[part] === 1) anywhere[part] = 1;
      return termsOf(there);
    });
    return { each, together: termsOf(anywhere) };
  };
}

/** Marks the parts that a text has, in which letters are small and without diacritics. */
function markParts(text: string, parts: readonly Part[], there: Uint8Array): void {
  if (!isPlain(text)) {
    for (const word of wordsOf(text)) markWord(word, 0, word.length, parts, there);
    return;
  }
  let from = -1;
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at);
    const isLetter = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    if (isLetter) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      markWord(text, from, at, parts, there);
      from = -1;
    }
  }
}

/** Marks the parts that are like the word from one place of a text to another. */
function markWord(text: string, from: number, to: number, parts: readonly Part[], there: Uint8Array): void {
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at];
    if (part !== undefined && there[at] === 0 && isLike(text, from, to, part)) there[at] = 1;
  }
}

/** The index knows stems; this is never narrower. */
function isLike(text: string, from: number, to: number, { word, as }: Part): boolean {
  const length = to - from;
  if (as === 'same') return length === word.length && text.startsWith(word, from);
  if (as === 'prefix') return length >= word.length && text.startsWith(word, from);
  const shorter = Math.min(length, word.length);
  const same = Math.min(shorter, Math.max(2, shorter - 2));
  for (let at = 0; at < same; at++) if (text.charCodeAt(from + at) !== word.charCodeAt(at)) return false;
  return true;
}
