/**
 * A question in words, as people type it. It becomes an expression of the index in which every word is quoted: nothing that
 * somebody types is ever syntax of the database.
 */
import { invalid } from '../core/errors.ts';
import { otherForms } from './irregular.ts';
import { folded, isCommon, wordsOf } from './words.ts';

/** The most characters of a question. */
export const MAX_QUESTION_LENGTH = 1_024;

/** The most words of a question, those of phrases included. */
export const MAX_QUESTION_WORDS = 32;

/** Words between two of `NEAR`, unless it says how many; and at most. */
const DEFAULT_NEAR = 10;
const MAX_NEAR = 100;

/** Conditions on resources, beside what is in them. */
export interface Filters {
  readonly mount?: string | undefined;
  /** URI of a resource, or of a folder that everything lies below. */
  readonly folder?: string | undefined;
  /** MIME type, a range of them as `image/*`, or a part of one as `pdf`. */
  readonly type?: string | undefined;
  /** Times of the last change in ISO 8601, as `2025` or `2025-04-01`. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  /** Bytes. */
  readonly larger?: number | undefined;
  readonly smaller?: number | undefined;
}

/** A part of a question: a word, the beginning of one, or several words as a phrase or near each other. */
export interface Term {
  readonly words: readonly string[];
  readonly prefix: boolean;
  /** Words may lie between them; undefined for a phrase. */
  readonly near?: number | undefined;
  /** Places have it, all of them; others are only better with it. */
  readonly required: boolean;
  /** Words that do as well, as its irregular forms. */
  readonly forms?: readonly string[] | undefined;
  /** Only titles and names count. */
  readonly byName?: boolean | undefined;
}

export interface Question {
  readonly terms: readonly Term[];
  readonly filters: Filters;
}

const TOKEN =
  /\s*(?:(?<key>[a-z]+):(?:"(?<quoted>[^"]*)"|(?<value>[^\s"]+))|NEAR\((?<near>[^()]*)\)|"(?<phrase>[^"]*)"|(?<word>[^\s"]+))/gy;

/**
 * Words, "phrases", prefix*, NEAR(words, 5), and filters such as `type:pdf` or `after:2025`.
 * @param withForms whether irregular forms of English words do as well
 * @throws ResourceError `invalid` that says what is wrong and how it is written
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
    const said = quoted ?? value;
    if (key !== undefined && said !== undefined && isFilter(key)) Object.assign(filters, filterOf(key, said));
    else if (near !== undefined) terms.push(nearOf(near));
    else terms.push(...termsOf(phrase ?? word ?? `${key}:${said}`, phrase !== undefined, withForms));
  }
  return { terms: limited(terms), filters };
}

/**
 * The beginnings of words of a title or a name, all of which have to be there. No sign in the text means anything.
 * @throws ResourceError `invalid` for a text without words, and for one that is too long
 */
export function questionOfName(text: string): Question {
  if (text.length > MAX_QUESTION_LENGTH) throw invalid(`A question has at most ${MAX_QUESTION_LENGTH} characters`);
  const terms = wordsOf(text).map((word): Term => ({ words: [word], prefix: true, required: true, byName: true }));
  return { terms: limited(terms), filters: {} };
}

/** The terms, of which there are neither too many nor none. @throws ResourceError `invalid` */
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

/** Common words are left out where others are there to be looked for. */
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

const FILTERS = ['mount', 'in', 'type', 'after', 'before', 'larger', 'smaller'] as const;
type FilterName = (typeof FILTERS)[number];
const isFilter = (key: string): key is FilterName => FILTERS.some((each) => each === key);

function filterOf(key: FilterName, said: string): Filters {
  switch (key) {
    case 'mount':
      return { mount: said };
    case 'in':
      return { folder: said };
    case 'type':
      return { type: said.toLowerCase() };
    case 'after':
      return { after: timeOf(key, said) };
    case 'before':
      return { before: timeOf(key, said) };
    case 'larger':
      return { larger: bytesOf(key, said) };
    case 'smaller':
      return { smaller: bytesOf(key, said) };
  }
}

function timeOf(key: string, said: string): string {
  const time = Date.parse(said);
  if (Number.isNaN(time)) throw invalid(`${key}: takes a time as in ${key}:2025 or ${key}:2025-04-01`);
  return new Date(time).toISOString();
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_024, m: 1_024 ** 2, g: 1_024 ** 3 };

function bytesOf(key: string, said: string): number {
  const { number, unit = '' } = /^(?<number>\d{1,15})(?<unit>[kmg]?)b?$/i.exec(said)?.groups ?? {};
  const factor = UNITS[unit.toLowerCase()];
  if (number === undefined || factor === undefined) throw invalid(`${key}: takes bytes as in ${key}:4096 or ${key}:2m`);
  return Math.min(Number(number) * factor, Number.MAX_SAFE_INTEGER);
}

/** A term in the syntax of FTS5: quoted strings, which have no syntax in them. */
export function expressionOf({ words, prefix, near, byName = false, forms = [] }: Term): string {
  if (forms.length > 0) return `(${[words.join(' '), ...forms].map(quote).join(' OR ')})`;
  if (near !== undefined) return `NEAR(${words.map(quote).join(' ')}, ${near})`;
  return `${byName ? '{title name} : ' : ''}${quote(words.join(' '))}${prefix ? ' *' : ''}`;
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** The whole question: what is required, and with it whatever else is there; without, one of the words is enough. */
export function matchOf({ terms }: Question): string {
  const all = terms.map(expressionOf).join(' OR ');
  const required = terms.filter((term) => term.required).map(expressionOf);
  return required.length === 0 ? all : `(${required.join(' AND ')}) AND (${all})`;
}
