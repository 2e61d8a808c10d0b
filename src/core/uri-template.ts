/**
 * URI templates (RFC 6570, all four levels): expansion of variables into a URI, and the reverse, a URI into variables.
 * Expansion is here; the grammar, the reverse and percent-encoding are in the files beside.
 */

import { compileMatcher } from './uri-template/match.ts';
import {
  type Expression,
  type Operator,
  parseParts,
  UriTemplateError,
  type VariableSpec,
} from './uri-template/parse.ts';
import { encodeText, normalizeTriplets } from './uri-template/percent.ts';
import { readCaptures } from './uri-template/values.ts';

export { UriTemplateError } from './uri-template/parse.ts';

/** A string, a list, or an associative array (RFC 6570 section 2.3). */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;

/** Values by name. Only own properties count; undefined, `[]` and `{}` are undefined values (section 2.3). */
export type TemplateVariables = Readonly<Record<string, TemplateValue | undefined>>;

/** A parsed template. It holds no state: one may be shared and used any number of times. */
export interface UriTemplate {
  readonly text: string;
  /** Names of the variables, in order of first appearance. */
  readonly variables: readonly string[];
  /**
   * The URI for these variables (RFC 6570 section 3). Throws a UriTemplateError when a prefix modifier meets a list or
   * an associative array (section 2.4.1), or a value is not well-formed Unicode. One deliberate difference: the keys of
   * an exploded associative array are encoded as values are, not as literals (section 3.2.1), since a key that held
   * `&` would else write parameters of its own.
   */
  expand(variables: TemplateVariables): string;
  /**
   * The variables that expand to this URI, or undefined when there are none. RFC 6570 section 1.4 leaves the reverse
   * open; these are the choices made here.
   *
   * - The law: `expand(match(uri))` equals `uri`, but for the case of hexadecimal digits and needlessly encoded
   *   unreserved characters. So `?q` does not match `{?q}`, which writes `?q=`; repeated variables must agree.
   * - Literals and names match as they stand in the URI, but for the case of hexadecimal digits.
   * - A value holds unreserved characters and triplets, under `+` and `#` also reserved characters. Raw controls,
   *   spaces, `"<>\^{|}`, the grave accent and non-ASCII never match, nor do triplets that are not UTF-8.
   * - Of several readings, the one that binds the most variables wins; of those, the one that gives the most
   *   parameters to the variable of their name, rather than to an exploded associative array; of those, the one where
   *   variables take as much as they can, left to right. So `{+path}/{name}` takes `a/b` and `c` of `a/b/c`,
   *   `{name}{.ext}` takes `a.tar` and `gz` of `a.tar.gz`, and `{a}{b}` gives all to `a`.
   * - The first variable of a `{x}` or `{+x}` expression that took nothing is `''` (absent when exploded). Elsewhere
   *   what is not written is absent.
   * - A variable without modifier is a string, or a list when it holds raw commas and is not reserved; with `*` it is a
   *   list, or an associative array when it is written with keys other than the variable's name.
   * - Values are decoded once. Under `+` and `#` a triplet stays as it is where decoding would not expand back (`%2F`).
   * - It fails where no value can hold what is written: a key twice, or keys that a JavaScript object would reorder.
   *   Both that and whether the mentions of a repeated variable agree are only tried in the one reading above.
   * - Time and memory are linear in the length of the URI, for every template. A URI over 65,536 characters does not
   *   match, nor one over 8,388,608 divided by the size of the template's automaton (some 20 nodes a variable at most).
   */
  match(uri: string): Record<string, TemplateValue> | undefined;
}

/**
 * Parses a URI template (RFC 6570 section 2). Throws a UriTemplateError with the position of a syntax error, and for a
 * template over 8192 characters, 64 expressions or 128 variables.
 */
export function parseUriTemplate(text: string): UriTemplate {
  const parts = parseParts(text);
  const matcher = compileMatcher(parts);
  const names = parts.flatMap((part) => (part.kind === 'literal' ? [] : part.variables.map(({ name }) => name)));
  const expand = (variables: TemplateVariables) =>
    parts.map((part) => (part.kind === 'literal' ? part.text : expandExpression(part, variables))).join('');
  return {
    text,
    variables: [...new Set(names)],
    expand,
    match(uri) {
      const { match } = matcher.run(uri);
      if (match === undefined) return undefined;
      const variables = readCaptures(match.captures, match.units);
      return expandsTo(expand, variables, uri) ? variables : undefined;
    },
  };
}

/**
 * Holds every match to the law by expanding it again. Matching decides by a regular language, and a few things are
 * outside any: that two mentions of a variable agree, that the keys of an associative array differ.
 */
function expandsTo(expand: UriTemplate['expand'], variables: TemplateVariables, uri: string): boolean {
  try {
    return normalizeTriplets(expand(variables)) === normalizeTriplets(uri);
  } catch (error) {
    if (error instanceof UriTemplateError) return false;
    throw error;
  }
}

function expandExpression({ operator, variables: specs }: Expression, variables: TemplateVariables): string {
  const written = specs
    .map((spec) =>
      expandVariable(operator, spec, Object.hasOwn(variables, spec.name) ? variables[spec.name] : undefined),
    )
    .filter((text) => text !== undefined);
  return written.length === 0 ? '' : operator.first + written.join(operator.separator);
}

/** One variable without what stands before it, or undefined when its value counts as undefined. */
function expandVariable(operator: Operator, spec: VariableSpec, value: TemplateValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const encode = (text: string, limit?: number) => {
    if (/\p{Surrogate}/u.test(text)) throw new UriTemplateError(`"${spec.name}" has a lone surrogate`, spec.position);
    return encodeText(text, operator.reserved, limit);
  };
  const named = (name: string, text: string) => {
    if (!operator.named) return text;
    return text === '' ? name + operator.ifEmpty : `${name}=${text}`;
  };
  if (typeof value === 'string') return named(spec.name, encode(value, spec.prefix));

  const pairs = isList(value)
    ? undefined
    : Object.entries(value).map(([key, text]) => [encode(key), encode(text)] as const);
  const members = isList(value) ? value.map((text) => encode(text)) : [];
  if (members.length === 0 && (pairs === undefined || pairs.length === 0)) return undefined;
  if (spec.prefix !== undefined)
    throw new UriTemplateError(`prefix of "${spec.name}", which is no string,`, spec.position);

  if (!spec.explode) return named(spec.name, (pairs?.flat() ?? members).join(','));
  const items =
    pairs?.map(([key, text]) => (operator.named ? named(key, text) : `${key}=${text}`)) ??
    members.map((text) => named(spec.name, text));
  return items.join(operator.separator);
}

/** Array.isArray does not narrow a readonly array out of a union. */
function isList(value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] {
  return Array.isArray(value);
}
