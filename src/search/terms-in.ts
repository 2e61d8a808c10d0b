/** Finds the terms of a question that texts have, as far as that is possible without the index. */
import type { Fit } from '../core/passage.ts';
import type { Question } from './question.ts';
import { folded, isPlain, wordsOf } from './words.ts';

/** A word that is looked for. */
interface Part {
  readonly word: string;
  /** How a word of the text may match it: the same word, a word with this beginning, or perhaps another form of it. */
  readonly as: 'same' | 'prefix' | 'form';
}

/**
 * Makes the function that returns the numbers of the terms that texts have. It tells whether the terms are in the texts that the
 * caller may read. It looks at every word that is shown, so it makes no string for any word.
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
  const termsOf = (present: Uint8Array): ReadonlySet<number> => {
    const has = (part: number): boolean => present[part] === 1;
    return new Set(wanted.flatMap((term, at) => (term.parts.every(has) || term.forms.some(has) ? [at] : [])));
  };
  return (texts) => {
    const anywhere = new Uint8Array(parts.length);
    const each = texts.map((text) => {
      const present = new Uint8Array(parts.length);
      markParts(folded(text), parts, present);
      for (let part = 0; part < parts.length; part++) if (present[part] === 1) anywhere[part] = 1;
      return termsOf(present);
    });
    return { each, together: termsOf(anywhere) };
  };
}

/** Marks the parts that a text has. The text must be in lower case and without diacritics. */
function markParts(text: string, parts: readonly Part[], present: Uint8Array): void {
  if (!isPlain(text)) {
    for (const word of wordsOf(text)) markWord(word, 0, word.length, parts, present);
    return;
  }
  let from = -1;
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at);
    const isLetter = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    if (isLetter) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      markWord(text, from, at, parts, present);
      from = -1;
    }
  }
}

/** Marks the parts that match the word from one place of a text to another. */
function markWord(text: string, from: number, to: number, parts: readonly Part[], present: Uint8Array): void {
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at];
    if (part !== undefined && present[at] === 0 && isLike(text, from, to, part)) present[at] = 1;
  }
}

/** Whether a word matches a part. This is never stricter than the index, which compares stems. */
function isLike(text: string, from: number, to: number, { word, as }: Part): boolean {
  const length = to - from;
  if (as === 'same') return length === word.length && text.startsWith(word, from);
  if (as === 'prefix') return length >= word.length && text.startsWith(word, from);
  const shorter = Math.min(length, word.length);
  const same = Math.min(shorter, Math.max(2, shorter - 2));
  for (let at = 0; at < same; at++) if (text.charCodeAt(from + at) !== word.charCodeAt(at)) return false;
  return true;
}
