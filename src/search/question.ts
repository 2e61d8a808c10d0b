/**
 * Parses a question as people type it. It becomes an expression of the index in which every word is quoted, so that nothing
 * that somebody types is ever syntax of the database.
 */
import { invalid } from '../core/errors.ts';
import { type FilterName, isFilter, TOKEN } from '../core/text/question-tokens.ts';
import { otherForms } from './irregular.ts';
import { folded, isCommon, wordsOf } from './words.ts';

/** The most characters of a question. */
export const MAX_QUESTION_LENGTH = 1_024;

/** The most words of a question, those of phrases included. */
export const MAX_QUESTION_WORDS = 32;

/** The most other words between the words of `NEAR` if it names no number; and the highest number that it may name. */
const DEFAULT_NEAR = 10;
const MAX_NEAR = 100;

/** Conditions on resources, beside the words in them. */
export interface Filters {
  readonly mount?: string | undefined;
  /** The URI of a resource, or of a folder with everything below it. */
  readonly folder?: string | undefined;
  /** A MIME type, a range of types such as `image/*`, or a part of a type such as `pdf`. */
  readonly type?: string | undefined;
  /** Limits of the time of the last change, in ISO 8601. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Limits of the size, in bytes. */
  readonly larger?: number | undefined;
  readonly smaller?: number | undefined;
}

/** A part of a question: a word, the beginning of one, or several words as a phrase or near each other. */
export interface Term {
  readonly words: readonly string[];
  readonly prefix: boolean;
  /** The most other words between its words; undefined for a phrase. */
  readonly near?: number | undefined;
  /** Whether every place must have it. A place with a term that is not required only scores higher. */
  readonly required: boolean;
  /** Words that count as this one, such as its irregular forms. */
  readonly forms?: readonly string[] | undefined;
  /** Whether it is looked for only in titles and names. */
  readonly byName?: boolean | undefined;
}

export interface Question {
  readonly terms: readonly Term[];
  readonly filters: Filters;
}

/**
 * Parses words, "phrases", prefix*, NEAR(words, 5), and filters such as `type:pdf` or `after:2025`.
 * @param withForms whether irregular forms of English words count as the word
 * @throws ResourceError `invalid`, which says what is wrong and how to write it
 */
export function parseQuestion(text: string, withForms = true): Question {
  if (text.length > MAX_QUESTION_LENGTH) throw invalid(`A question has at most ${MAX_QUESTION_LENGTH} characters`);
  if (text.includes('\0')) throw invalid('A question has no character U+0000; leave it out');
  const terms: Term[] = [];
  const filters: { -readonly [K in keyof Filters]: Filters[K] } = {};
  const question = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < question.length) {
    const groups = TOKEN.exec(question)?.groups;
    if (groups === undefined) throw invalid('A phrase begins with " and has no other one that ends it; add it');
    const { key, quoted, value, near, phrase, word } = groups;
    const wanted = quoted ?? value;
    if (key !== undefined && wanted !== undefined && isFilter(key)) Object.assign(filters, filterOf(key, wanted));
    else if (near !== undefined) terms.push(nearOf(near));
    else terms.push(...termsOf(phrase ?? word ?? `${key}:${wanted}`, phrase !== undefined, withForms));
  }
  return { terms: limited(terms), filters };
}

/**
 * Makes a question of beginnings of words, all of which a title or name must have. No character of the text is syntax.
 * @throws ResourceError `invalid` for a text without words, and for one that is too long
 */
export function questionOfName(text: string): Question {
  if (text.length > MAX_QUESTION_LENGTH) throw invalid(`A question has at most ${MAX_QUESTION_LENGTH} characters`);
  const terms = wordsOf(text).map((word): Term => ({ words: [word], prefix: true, required: true, byName: true }));
  return { terms: limited(terms), filters: {} };
}

/** Returns the terms without common words. @throws ResourceError `invalid` for too many words, or none */
function limited(terms: readonly Term[]): readonly Term[] {
  const words = terms.reduce((sum, term) => sum + term.words.length, 0);
  if (words === 0) throw invalid('A question has at least one word; signs alone are not in the index');
  if (words > MAX_QUESTION_WORDS) throw invalid(`A question has at most ${MAX_QUESTION_WORDS} words`);
  return withoutCommon(terms);
}

function termsOf(text: string, isPhrase: boolean, withForms: boolean): readonly Term[] {
  const prefix = !isPhrase && text.endsWith('*');
  const words = wordsOf(text);
  if (words.length === 0) return [];
  // "e-mail" is two words to the index; typed as one, they belong together.
  const forms = !withForms || isPhrase || prefix || words.length > 1 ? [] : otherForms(words[0] ?? '');
  return [{ words, prefix, required: isPhrase, ...(forms.length > 0 && { forms }) }];
}

function nearOf(inside: string): Term {
  const { names = '', distance } = /^(?<names>.*?)(?:,\s*(?<distance>\d+)\s*)?$/s.exec(inside)?.groups ?? {};
  const words = wordsOf(names);
  if (words.length < 2) throw invalid('NEAR takes two words or more, as in NEAR(clock wound, 5)');
  const near = distance === undefined ? DEFAULT_NEAR : Number(distance);
  if (near > MAX_NEAR) throw invalid(`NEAR takes a distance of at most ${MAX_NEAR} words`);
  return { words, prefix: false, near, required: true };
}

/** Leaves out common words, if other words are left to look for, and terms that are repeated. */
function withoutCommon(terms: readonly Term[]): readonly Term[] {
  const telling = terms.filter(
    ({ words, prefix, required }) => required || prefix || words.length > 1 || !isCommon(words[0] ?? ''),
  );
  const kept = telling.length === 0 ? terms : telling;
  const seen = new Set<string>();
  return kept.filter((term) => {
    const key = JSON.stringify({ ...term, words: term.words.map(folded) });
    return seen.has(key) ? false : seen.add(key);
  });
}

function filterOf(key: FilterName, value: string): Filters {
  switch (key) {
    case 'mount':
      return { mount: value };
    case 'in':
      return { folder: value };
    case 'type':
      return { type: value.toLowerCase() };
    case 'after':
      return { after: timeOf(key, value) };
    case 'before':
      return { before: timeOf(key, value) };
    case 'larger':
      return { larger: bytesOf(key, value) };
    case 'smaller':
      return { smaller: bytesOf(key, value) };
  }
}

function timeOf(key: string, value: string): string {
  const time = Date.parse(value);
  if (Number.isNaN(time)) throw invalid(`${key}: takes a time as in ${key}:2025 or ${key}:2025-04-01`);
  return new Date(time).toISOString();
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_024, m: 1_024 ** 2, g: 1_024 ** 3 };

function bytesOf(key: string, value: string): number {
  const { number, unit = '' } = /^(?<number>\d{1,15})(?<unit>[kmg]?)b?$/i.exec(value)?.groups ?? {};
  const factor = UNITS[unit.toLowerCase()];
  if (number === undefined || factor === undefined) throw invalid(`${key}: takes bytes as in ${key}:4096 or ${key}:2m`);
  return Math.min(Number(number) * factor, Number.MAX_SAFE_INTEGER);
}

/** Writes a term in the syntax of FTS5, with all its words in quoted strings. */
export function expressionOf({ words, prefix, near, byName = false, forms = [] }: Term): string {
  const fields = byName ? '{title name} : ' : '';
  if (forms.length > 0) return `${fields}(${[words.join(' '), ...forms].map(quote).join(' OR ')})`;
  if (near !== undefined) return `${fields}NEAR(${words.map(quote).join(' ')}, ${near})`;
  return `${fields}${quote(words.join(' '))}${prefix ? ' *' : ''}`;
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Returns the expression of a question: a place must have all required terms, and at least one term. */
export function matchOf({ terms }: Question): string {
  const all = terms.map(expressionOf).join(' OR ');
  const required = terms.filter((term) => term.required).map(expressionOf);
  return required.length === 0 ? all : `(${required.join(' AND ')}) AND (${all})`;
}
