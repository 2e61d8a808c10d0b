/**
 * The one glob of Vitrine, for rules, lists of the configuration and searches:
 *
 * - `*` and `?` match within one segment of a path or URI, and anything in a plain text such as the name of a tool;
 * - `**` between slashes matches any segments, or none; `x/**` is `x` and all below; `x**` at the end is all that begins so;
 * - `[abc]`, `[a-z]` and `[!abc]` match one character, `{a,b}` either text, and `\` takes the next character literally.
 *
 * Every other character stands for itself. A glob becomes a list of alternatives, each a list of tokens.
 */
import { ResourceError } from '../errors.ts';

/** The kinds of text that a glob is matched against. A `text` has no segments: `*` matches slashes too. */
export type GlobSubject = 'uri' | 'path' | 'text';

export type Token =
  | { readonly kind: 'literal'; readonly text: string }
  /** One character of a segment, or of a text. */
  | { readonly kind: 'one'; readonly slashes: boolean }
  | {
      readonly kind: 'set';
      readonly ranges: readonly Range[];
      readonly negated: boolean;
      /** Whether it matches a slash, too. */
      readonly slashes: boolean;
    }
  /** Any characters of one segment. */
  | { readonly kind: 'star' }
  /** Any characters. */
  | { readonly kind: 'any' }
  /** Nothing, or any segments with the slash that ends them. */
  | { readonly kind: 'segments' }
  /** The end, or a slash and anything. */
  | { readonly kind: 'below' };

/** First and last code point. */
export type Range = readonly [first: number, last: number];

export type Alternatives = readonly (readonly Token[])[];

/** The most alternatives of one glob. */
export const MAX_ALTERNATIVES = 1_024;

/** Says why a text is not a valid glob, and how to write it. */
export class GlobError extends ResourceError {
  constructor(message: string) {
    super('invalid', message);
  }
}

/** @throws GlobError for an invalid or ambiguous glob */
export function parseGlob(glob: string, subject: GlobSubject): Alternatives {
  if (glob === '') throw new GlobError('a glob is not empty; write ** for everything');
  if (glob.startsWith('!'))
    throw new GlobError(
      `${glob} begins with "!": put exclusions into a list of their own, or write \\! for the character`,
    );
  if (subject === 'path' && /^\.?\/|\/$/.test(glob))
    throw new GlobError(`${glob} begins or ends with a slash; write drafts, or drafts/** with all below`);
  if (EXTENDED.test(glob)) throw new GlobError(`${glob} has an extended pattern in it; write {a,b} for alternatives`);
  return expand(pieces(glob)).map((alternative) => tokens(alternative, glob, subject, true));
}

/** Parses a glob as if only `*` and `**` had a meaning. */
export function parseLiterally(glob: string, subject: GlobSubject): readonly Token[] {
  const all = [...glob].map((char): Piece => (char === '*' ? { char } : { char, literal: true, odd: ODD.has(char) }));
  return tokens(all, glob, subject, false);
}

/** Patterns such as `@(a|b)`, which other globs have. They are refused, since here the characters would stand for themselves. */
const EXTENDED = /[?*+@!]\([^()]*\|[^()]*\)/;

/** Characters, other than stars, that have a meaning in a glob. */
const ODD: ReadonlySet<string> = new Set('?[]{}\\');

/** One character of a glob. */
interface Piece {
  readonly char: string;
  /** It stands for itself. */
  readonly literal?: boolean | undefined;
  /** It stands for itself, but could have a meaning in a glob. In URIs it is escaped. */
  readonly odd?: boolean | undefined;
  readonly set?: Extract<Token, { kind: 'set' }> | undefined;
}

const CLASS = /\[([!^]?)(\]?[^\]]*)\]/uy;

function pieces(glob: string): readonly Piece[] {
  const all: Piece[] = [];
  for (let at = 0; at < glob.length; ) {
    const char = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    if (char === '\\') {
      const next = glob.codePointAt(at + 1);
      if (next === undefined) throw new GlobError(`${glob} ends with a backslash; write \\\\ for the character`);
      const escaped = String.fromCodePoint(next);
      all.push({ char: escaped, literal: true, odd: ODD.has(escaped) });
      at += 1 + escaped.length;
    } else if (char === '[') {
      CLASS.lastIndex = at;
      const found = CLASS.exec(glob);
      if (found === null) throw new GlobError(`${glob} has no ] for its [; write \\[ for the character`);
      all.push({ char, set: setOf(found[2] ?? '', found[1] !== '', glob) });
      at += found[0].length;
    } else {
      all.push({ char });
      at += char.length;
    }
  }
  return all;
}

function setOf(text: string, negated: boolean, glob: string): Extract<Token, { kind: 'set' }> {
  const chars = Array.from(text.normalize('NFC'), (char) => char.codePointAt(0) ?? 0);
  if (chars.length === 0) throw new GlobError(`${glob} has nothing between [ and ]; write \\[\\] for the characters`);
  if (/[/%]|\[[:.=]/.test(text))
    throw new GlobError(`${glob} has a slash, an escape or a class by name between [ and ]; write the characters out`);
  const ranges: Range[] = [];
  for (let at = 0; at < chars.length; at++) {
    const first = chars[at] ?? 0;
    const last = chars[at + 1] === DASH ? chars[at + 2] : undefined;
    if (last !== undefined && last < first) throw new GlobError(`${glob} has a range that ends before it begins`);
    ranges.push([first, last ?? first]);
    if (last !== undefined) at += 2;
  }
  return { kind: 'set', ranges, negated, slashes: false };
}

const DASH = 0x2d;

const isOperator = (piece: Piece | undefined, char: string): boolean =>
  piece !== undefined && piece.char === char && piece.literal !== true && piece.set === undefined;

/**
 * Replaces braces by alternatives: one list of pieces for each way to choose.
 * @throws GlobError for more than `MAX_ALTERNATIVES`
 */
function expand(glob: readonly Piece[]): readonly (readonly Piece[])[] {
  const open = glob.findIndex((piece) => isOperator(piece, '{'));
  const unopened = glob.findIndex((piece) => isOperator(piece, '}'));
  const written = (): string => glob.map(({ char, literal }) => (literal ? `\\${char}` : char)).join('');
  if (open === -1) {
    if (unopened !== -1) throw new GlobError(`${written()} has a } without {; write \\} for the character`);
    return [glob];
  }
  if (unopened !== -1 && unopened < open)
    throw new GlobError(`${written()} has a } without {; write \\} for the character`);
  const choices: (readonly Piece[])[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < glob.length; at++) {
    const piece = glob[at];
    if (isOperator(piece, '{')) depth++;
    if (isOperator(piece, '}')) depth--;
    if (depth === 0 || (depth === 1 && isOperator(piece, ','))) {
      choices.push(glob.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) break;
  }
  if (depth !== 0) throw new GlobError(`${written()} has no } for its {; write \\{ for the character`);
  if (choices.length < 2)
    throw new GlobError(`${written()} has braces without a comma between them; write \\{ and \\} for the characters`);
  const begins = glob.slice(0, open);
  const ends = expand(glob.slice(from));
  const middles: (readonly Piece[])[] = [];
  for (const choice of choices) {
    middles.push(...expand(choice));
    // Counted before they are combined: a short glob could mean millions.
    if (middles.length * ends.length > MAX_ALTERNATIVES)
      throw new GlobError(`a glob means at most ${MAX_ALTERNATIVES} alternatives; write several globs`);
  }
  return middles.flatMap((middle) => ends.map((end) => [...begins, ...middle, ...end]));
}

/** @param strict `**` within a name is refused; otherwise it matches anything */
function tokens(all: readonly Piece[], glob: string, subject: GlobSubject, strict: boolean): readonly Token[] {
  const result: Token[] = [];
  const slashes = subject === 'text';
  let literal = '';
  const flush = (): void => {
    if (literal !== '') result.push({ kind: 'literal', text: literal });
    literal = '';
  };
  const add = (token: Token): void => {
    flush();
    result.push(token);
  };
  for (let at = 0; at < all.length; at++) {
    const piece = all[at] as Piece;
    if (piece.set !== undefined) add({ ...piece.set, slashes });
    else if (isOperator(piece, '?')) add({ kind: 'one', slashes });
    else if (!isOperator(piece, '*'))
      literal += subject === 'uri' && piece.odd ? encodeURIComponent(piece.char) : piece.char;
    else {
      let end = at;
      while (isOperator(all[end + 1], '*')) end++;
      const deep = end > at;
      const next = all[end + 1];
      const begins = at === 0 || all[at - 1]?.char === '/';
      if (subject === 'text') add({ kind: 'any' });
      else if (!deep) add({ kind: 'star' });
      else if (next === undefined && begins && literal.endsWith('/')) {
        literal = literal.slice(0, -1);
        add({ kind: 'below' });
      } else if (next === undefined || (!strict && !(begins && next.char === '/'))) add({ kind: 'any' });
      else if (begins && next.char === '/') {
        add({ kind: 'segments' });
        end++;
      } else throw new GlobError(`in ${glob}, ** stands between slashes or at the end; write * for a part of a name`);
      at = end;
    }
  }
  flush();
  return result;
}
