/** Lists of globs, with one syntax in configurations and arguments. */
import { comparableUri } from '../uri/spellings.ts';
import { matcherOf } from './match.ts';
import { type Alternatives, GlobError, type GlobSubject, parseGlob, parseLiterally, type Token } from './parse.ts';

export type { GlobSubject } from './parse.ts';

/** A compiled list of globs. */
export interface Globs {
  /** Whether a glob certainly matches the text: for lists that allow. */
  matches(text: string): boolean;
  /**
   * Whether a glob possibly matches the text, for lists that forbid or hide: brackets, braces, `?` and backslashes may
   * be meant literally, and a slash at the end is ignored. For the subject `text`, letter case and surrounding white space are
   * ignored, too.
   */
  mayMatch(text: string): boolean;
}

/**
 * Compiles a list; returns undefined for an undefined list.
 * @throws GlobError for an invalid or ambiguous glob
 */
export function compileGlobs(globs: readonly string[] | undefined, subject: GlobSubject): Globs | undefined {
  if (globs === undefined) return undefined;
  const parsed = globs.flatMap((glob) => parseGlob(glob, subject));
  const literal = globs
    .filter((glob) => /[?[\]{}\\]|\/$/.test(glob))
    // Only a root's canonical URI ends with a slash.
    .map((glob) => parseLiterally(glob.replace(/\/+$/, ''), subject));
  const form = subject === 'uri' ? comparableUri : normalized;
  const sure = comparer(parsed, subject, form);
  const unsure = [comparer(literal, subject, form), ...(subject === 'text' ? [comparer(parsed, subject, folded)] : [])];
  return {
    matches: (text) => text !== '' && sure(text),
    mayMatch: (text) => text !== '' && (sure(text) || unsure.some((fits) => fits(text.trim()))),
  };
}

/** Returns a function that compares texts with globs, both in one form. */
function comparer(all: Alternatives, subject: GlobSubject, form: (text: string) => string): (text: string) => boolean {
  if (all.length === 0) return () => false;
  const fits = matcherOf(all.map((tokens) => prepared(tokens, subject, form)));
  return (text) => fits(form(text));
}

/** Returns the problem of the first invalid glob; undefined where all are valid. */
export function globProblem(globs: readonly string[] | undefined, subject: GlobSubject): string | undefined {
  try {
    compileGlobs(globs, subject);
    return undefined;
  } catch (error) {
    if (error instanceof GlobError) return error.message;
    throw error;
  }
}

const normalized = (text: string): string => text.normalize('NFC');

/** Folds texts that look alike: letter case and compatibility characters. */
const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Brings literal texts of a glob into the form of the texts that they are compared with. */
function prepared(tokens: readonly Token[], subject: GlobSubject, form: (text: string) => string): readonly Token[] {
  let inScheme = subject === 'uri';
  return tokens.map((token) => {
    if (token.kind !== 'literal') return token;
    let { text } = token;
    if (inScheme) {
      const colon = text.indexOf(':');
      inScheme = colon === -1;
      text = inScheme ? text.toLowerCase() : text.slice(0, colon).toLowerCase() + text.slice(colon);
    }
    return { kind: 'literal', text: form(text) };
  });
}
