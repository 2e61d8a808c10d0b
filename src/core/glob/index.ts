/** Lists of globs: the same syntax wherever a configuration or a caller writes one. */
import { comparableUri } from '../uri/spellings.ts';
import { matcherOf } from './match.ts';
import { type Alternatives, GlobError, type GlobSubject, parseGlob, parseLiterally, type Token } from './parse.ts';

export type { GlobSubject } from './parse.ts';

/** A list of globs that is about something. */
export interface Globs {
  /** Whether one of them surely means this: for lists that allow. */
  matches(text: string): boolean;
  /**
   * Whether one of them could mean this, for lists that forbid or cover: brackets, braces, `?` and backslashes may have
   * been written for the characters themselves, and of texts neither letter case nor white space around them matters.
   */
  mayMatch(text: string): boolean;
}

/**
 * Compiles a list; undefined where nothing was said.
 * @throws GlobError for a glob that does not mean one thing
 */
export function compileGlobs(globs: readonly string[] | undefined, subject: GlobSubject): Globs | undefined {
  if (globs === undefined) return undefined;
  const parsed = globs.flatMap((glob) => parseGlob(glob, subject));
  const literal = globs
    .filter((glob) => /[?[\]{}\\]|\/$/.test(glob))
    // No canonical URI but a root ends with a slash.
    .map((glob) => parseLiterally(glob.replace(/\/+$/, ''), subject));
  const form = subject === 'uri' ? comparableUri : normalized;
  const sure = comparer(parsed, subject, form);
  const unsure = [comparer(literal, subject, form), ...(subject === 'text' ? [comparer(parsed, subject, folded)] : [])];
  return {
    matches: (text) => text !== '' && sure(text),
    mayMatch: (text) => text !== '' && (sure(text) || unsure.some((fits) => fits(text.trim()))),
  };
}

/** Compares tokens and texts in one form. */
function comparer(all: Alternatives, subject: GlobSubject, form: (text: string) => string): (text: string) => boolean {
  if (all.length === 0) return () => false;
  const fits = matcherOf(all.map((tokens) => prepared(tokens, subject, form)));
  return (text) => fits(form(text));
}

/** Why one of them is no glob; undefined where all are. */
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

/** Texts that only look alike: in another letter case, or in characters of compatibility. */
const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Literal texts in the form in which what they are compared with is. */
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
