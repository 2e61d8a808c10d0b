/**
 * URI templates (RFC 6570, all four levels): expanding variables into a URI, and matching a URI to get its variables.
 * This file expands; the folder `uri-template` has the grammar, matching and percent-encoding.
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

/** Values by name. Inherited properties are ignored; undefined, `[]` and `{}` are undefined values (section 2.3). */
export type TemplateVariables = Readonly<Record<string, TemplateValue | undefined>>;

/** A parsed template. It has no state, so it may be shared and used any number of times. */
export interface UriTemplate {
  readonly text: string;
  /** Names of the variables, in order of first appearance. */
  readonly variables: readonly string[];
  /**
   * Returns the URI for these variables (RFC 6570 section 3). Throws a UriTemplateError for a prefix modifier on a list or
   * an associative array (section 2.4.1), and for a value that is not well-formed Unicode. One difference to the RFC is
   * deliberate: the keys of an exploded associative array are encoded like values, not like literals (section 3.2.1), because
   * otherwise a key with `&` could add parameters.
   */
  expand(variables: TemplateVariables): string;
  /**
   * Returns the variables that expand to this URI; undefined if the URI does not match. RFC 6570 section 1.4 does not define
   * matching. It works here as follows.
   *
   * - The law: `expand(match(uri))` equals `uri`, except for the case of hexadecimal digits and for unreserved characters that
   *   are encoded needlessly. So `?q` does not match `{?q}`, which expands to `?q=`. All mentions of a variable must have the
   *   same value.
   * - Literals and names match exactly, except for the case of hexadecimal digits.
   * - A value consists of unreserved characters and triplets; after `+` and `#` also of reserved characters. Raw controls,
   *   spaces, `"<>\^{|}`, the grave accent and non-ASCII never match, nor do triplets that are not UTF-8.
   * - If there are several ways to match, the one that binds the most variables wins; then the one that gives the most
   *   parameters to the variable of their name instead of an exploded associative array; then the one in which
   *   variables take as much as they can, from left to right. So `{+path}/{name}` splits `a/b/c` into `a/b` and `c`,
   *   `{name}{.ext}` splits `a.tar.gz` into `a.tar` and `gz`, and `{a}{b}` gives everything to `a`.
   * - If a `{x}` or `{+x}` expression matches no text, its first variable is `''` (absent if it is exploded). Any other variable
   *   without text is absent.
   * - A variable without a modifier is a string, or a list if its text has raw commas and the operator is not `+` or `#`. A
   *   variable with `*` is a list, or an associative array if its text has keys other than the variable's name.
   * - Values are decoded once. After `+` and `#` a triplet stays encoded if the decoded character would not expand to it (`%2F`).
   * - A URI does not match if no value can represent its text: a key occurs twice, or a JavaScript object would reorder the
   *   keys. This, and whether all mentions of a variable agree, is checked only for the way that wins above.
   * - Time and memory are linear in the length of the URI, for every template. A URI of more than 65,536 characters does not
   *   match, and neither does one of more than 8,388,608 divided by the size of the template's automaton (at most about 20 nodes
   *   for each variable).
   */
  match(uri: string): Record<string, TemplateValue> | undefined;
}

/**
 * Parses a URI template (RFC 6570 section 2). Throws a UriTemplateError with the position of a syntax error, and for a
 * template with more than 8192 characters, 64 expressions or 128 variables.
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
      for (const best of ['most variables', 'most names'] as const) {
        const { match } = matcher.run(uri, best);
        if (match === undefined) return undefined;
        const variables = readCaptures(match.captures, match.units);
        if (expandsTo(expand, variables, uri)) return variables;
        // Parts of another value may have gone to an associative array, whose keys then are not unique.
      }
      return undefined;
    },
  };
}

/**
 * Makes sure that a match obeys the law, by expanding it again. The automaton accepts a regular language, which cannot express
 * that two mentions of a variable agree or that the keys of an associative array differ.
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
  const expanded = specs
    .map((spec) =>
      expandVariable(operator, spec, Object.hasOwn(variables, spec.name) ? variables[spec.name] : undefined),
    )
    .filter((text) => text !== undefined);
  return expanded.length === 0 ? '' : operator.first + expanded.join(operator.separator);
}

/** Expands one variable, without the operator or separator before it; undefined if its value counts as undefined. */
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

/** Replaces `Array.isArray`, which does not narrow a readonly array out of a union. */
function isList(value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] {
  return Array.isArray(value);
}
