/** Parses the text of a URI template into literals and expressions, by the grammar of RFC 6570 section 2. */

import { encodeText } from './percent.ts';

/** The length of the longest template, in UTF-16 code units. */
const MAX_TEMPLATE_LENGTH = 8192;
/** The most expressions in a template. */
const MAX_EXPRESSIONS = 64;
/** The most variables in a template. Each mention counts. */
const MAX_VARIABLES = 128;

/** An error in a URI template, or in the variables for its expansion. */
export class UriTemplateError extends Error {
  override readonly name = 'UriTemplateError';
  /** The place of the error in the template text, as an index into the string. */
  readonly position: number;

  constructor(reason: string, position: number) {
    super(`URI template: ${reason} at position ${position}`);
    this.position = position;
  }
}

/** The effect of an operator on its expression: a row of the table in RFC 6570 appendix A. */
export interface Operator {
  /** The text before the first variable. */
  readonly first: string;
  /** The text between variables. */
  readonly separator: string;
  /** Whether each value is written as `name=value`. */
  readonly named: boolean;
  /** The text after the name of a variable whose value is empty. */
  readonly ifEmpty: '' | '=';
  /** Whether reserved characters and triplets pass through unencoded. */
  readonly reserved: boolean;
}

/** One variable of an expression with its modifier (RFC 6570 section 2.4). */
export interface VariableSpec {
  readonly name: string;
  readonly explode: boolean;
  /** The most characters of the value that are expanded: the prefix modifier. */
  readonly prefix: number | undefined;
  readonly position: number;
}

export interface Expression {
  readonly kind: 'expression';
  readonly operator: Operator;
  readonly variables: readonly VariableSpec[];
}

/** Literal text, encoded as it stands in the URI (RFC 6570 section 3.1). */
interface Literal {
  readonly kind: 'literal';
  readonly text: string;
}

export type Part = Literal | Expression;

const SIMPLE: Operator = { first: '', separator: ',', named: false, ifEmpty: '', reserved: false };

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['+', { first: '', separator: ',', named: false, ifEmpty: '', reserved: true }],
  ['#', { first: '#', separator: ',', named: false, ifEmpty: '', reserved: true }],
  ['.', { first: '.', separator: '.', named: false, ifEmpty: '', reserved: false }],
  ['/', { first: '/', separator: '/', named: false, ifEmpty: '', reserved: false }],
  [';', { first: ';', separator: ';', named: true, ifEmpty: '', reserved: false }],
  ['?', { first: '?', separator: '&', named: true, ifEmpty: '=', reserved: false }],
  ['&', { first: '&', separator: '&', named: true, ifEmpty: '=', reserved: false }],
]);

// The patterns are sticky, and no two alternatives in them begin with the same character: so they never backtrack. The
// literal class is RFC 6570 section 2.1 with the apostrophe, which erratum 6937 adds.
const NAME = /(?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*/y;
const MODIFIER = /\*|:([1-9]\d{0,3})/y;
const LITERAL =
  /(?:(?!\p{Noncharacter_Code_Point})[!#$&-;=?-[\]_a-z~\u{A0}-\u{D7FF}\u{E000}-\u{FFEF}\u{10000}-\u{DFFFF}\u{E1000}-\u{10FFFF}]|%[\dA-Fa-f]{2})+/uy;

/**
 * Parses a template into its parts, in order (RFC 6570 section 2). Throws a UriTemplateError for a syntax error, for an
 * operator that the RFC reserves for extensions, and for a template over the limits above.
 */
export function parseParts(text: string): Part[] {
  if (text.length > MAX_TEMPLATE_LENGTH) {
    throw new UriTemplateError(`longer than ${MAX_TEMPLATE_LENGTH} characters`, MAX_TEMPLATE_LENGTH);
  }
  const parts: Part[] = [];
  let expressions = 0;
  let variables = 0;
  for (let at = 0; at < text.length; ) {
    if (text[at] !== '{') {
      const end = parseLiteral(text, at);
      parts.push({ kind: 'literal', text: encodeText(text.slice(at, end), true) });
      at = end;
      continue;
    }
    const { expression, end } = parseExpression(text, at);
    expressions += 1;
    variables += expression.variables.length;
    if (expressions > MAX_EXPRESSIONS) throw new UriTemplateError(`more than ${MAX_EXPRESSIONS} expressions`, at);
    if (variables > MAX_VARIABLES) throw new UriTemplateError(`more than ${MAX_VARIABLES} variables`, at);
    parts.push(expression);
    at = end;
  }
  return parts;
}

/** Returns the end of the literal that begins at `at`. */
function parseLiteral(text: string, at: number): number {
  const end = at + (scan(LITERAL, text, at)?.[0].length ?? 0);
  if (end < text.length && text[end] !== '{') throw unexpected(text, end);
  return end;
}

function parseExpression(text: string, open: number): { expression: Expression; end: number } {
  const operator = OPERATORS.get(text[open + 1] ?? '');
  const variables: VariableSpec[] = [];
  let at = operator === undefined ? open + 1 : open + 2;
  for (;;) {
    const { variable, end } = parseVariable(text, at);
    variables.push(variable);
    at = end + 1;
    if (text[end] === '}') break;
    if (end >= text.length) throw new UriTemplateError('expression is never closed', open);
    if (text[end] !== ',') throw unexpected(text, end);
  }
  return { expression: { kind: 'expression', operator: operator ?? SIMPLE, variables }, end: at };
}

function parseVariable(text: string, at: number): { variable: VariableSpec; end: number } {
  const name = scan(NAME, text, at)?.[0];
  if (name === undefined) throw unexpected(text, at);
  const modifier = scan(MODIFIER, text, at + name.length);
  const prefix = modifier?.[1] === undefined ? undefined : Number(modifier[1]);
  const variable = { name, explode: modifier?.[0] === '*', prefix, position: at };
  return { variable, end: at + name.length + (modifier?.[0].length ?? 0) };
}

function scan(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function unexpected(text: string, at: number): UriTemplateError {
  const codePoint = text.codePointAt(at);
  if (codePoint === undefined) return new UriTemplateError('unexpected end', at);
  return new UriTemplateError(`unexpected character ${JSON.stringify(String.fromCodePoint(codePoint))}`, at);
}
