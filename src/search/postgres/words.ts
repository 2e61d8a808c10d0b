/** Prepares texts and questions for PostgreSQL: as words alone, in which its parser finds no syntax. */
import type { Question, Term } from '../question.ts';
import type { Tokenizing } from '../schema.ts';
import { folded, wordsOf } from '../words.ts';

type Diacritics = Tokenizing['diacritics'];

const wordIn = (word: string, diacritics: Diacritics): string =>
  diacritics === 'fold' ? folded(word) : word.normalize('NFC').toLowerCase();

/** Returns the words of a text as the index has them, in their order. */
export const indexed = (text: string, diacritics: Diacritics): readonly string[] =>
  wordsOf(text).flatMap((word) => {
    const indexedWord = wordIn(word, diacritics);
    return indexedWord === '' ? [] : [indexedWord];
  });

/** A part of a question in the syntax of `to_tsquery`, every word quoted. */
export interface Expression {
  readonly term: Term;
  readonly sql: string;
  /** Its words as the index has them, for conditions that `to_tsquery` cannot express. */
  readonly words: readonly string[];
}

/** The weights of titles, and of names and headings. */
const TITLE_OR_NAME = 'AB';

export function expressionsOf({ terms }: Question, diacritics: Diacritics): readonly Expression[] {
  return terms.flatMap((term) => {
    const words = term.words.flatMap((word) => indexed(word, diacritics));
    if (words.length === 0) return [];
    const places = term.byName ? TITLE_OR_NAME : '';
    const joined = words
      .map((word, at) => lexeme(word, `${term.prefix && at === words.length - 1 ? '*' : ''}${places}`))
      .join(term.near === undefined ? ' <-> ' : ' & ');
    const others = (term.forms ?? []).map((form) => ` | ${lexeme(form, places)}`).join('');
    return [{ term, words, sql: `(${joined}${others})` }];
  });
}

/** @param signs `*` for the beginning of a word, and the weights of the fields that may have it */
const lexeme = (word: string, signs: string): string =>
  `'${word.replace(/['\\]/g, ' ')}'${signs === '' ? '' : `:${signs}`}`;

/** Returns the expression of the places that fit: they have all required terms, and at least one term. */
export function matchOf(expressions: readonly Expression[]): string {
  const required = expressions.filter(({ term }) => term.required).map(({ sql }) => sql);
  const any = expressions.map(({ sql }) => sql).join(' | ');
  return required.length === 0 ? any : `${required.join(' & ')} & (${any})`;
}
