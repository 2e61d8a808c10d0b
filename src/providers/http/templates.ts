/**
 * URL templates whose variables cannot leave their place (SEC-RES-5). A URL from a caller is matched, each value is
 * checked, and the URL is then parsed as a client parses it: the result must be the same URL, at the configured origin,
 * below the configured path.
 */

import { invalid, type ResourceError } from '../../core/errors.ts';
import { decodedText } from '../../core/uri.ts';
import { parseUriTemplate, type TemplateValue, type UriTemplate } from '../../core/uri-template.ts';
import type { ResourceTemplate } from '../../protocol/resources.ts';
import type { Description } from './readings.ts';
import type { Access } from './send.ts';
import type { Target } from './target.ts';

export interface WebTemplate {
  /** The canonical form, which is published. */
  readonly text: string;
  readonly parsed: UriTemplate;
  readonly origin: string;
  /** The path up to the first variable. */
  readonly prefix: string;
  /** Variables of the path, and those of them whose values may contain slashes. */
  readonly inPath: ReadonlySet<string>;
  readonly spanning: ReadonlySet<string>;
  /** The allowed values of a variable, by its name; with other values the template does not match. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly access: Access;
  readonly description: Description;
  readonly head: boolean;
}

export interface TemplateOptions {
  readonly values?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly access: Access;
  readonly description: Description;
  readonly head: boolean;
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;
const FIXED = /^(https?:\/\/[^/?#{}@\\]+)(\/[^?#{}]*|(?=\{[/?])|(?=\?))/i;

/** @throws ResourceError `invalid` that says what is wrong with the template */
export function compileTemplate(text: string, options: TemplateOptions): WebTemplate {
  const wrong = (why: string): ResourceError => invalid(`The URL template ${text} ${why}`);
  const [fixed = '', authority = ''] = FIXED.exec(text) ?? [];
  if (authority === '' || !URL.canParse(authority))
    throw wrong('has no fixed scheme and host, as in https://api.example/items/{id}');
  const { origin } = new URL(authority);
  const path = fixed.slice(authority.length);
  if (new URL(path === '' ? '/' : path, origin).pathname !== (path === '' ? '/' : path))
    throw wrong('has a path that is not a normal URL path; write it resolved, with escapes');
  const canonical = origin + text.slice(authority.length);
  let parsed: UriTemplate;
  try {
    parsed = parseUriTemplate(canonical);
  } catch (cause) {
    throw wrong(`is not a template: ${(cause as Error).message}`).withCause(cause);
  }
  if (parsed.variables.length === 0) throw wrong('has no variable; use url instead');
  if (canonical.replaceAll(EXPRESSION, '').includes('#')) throw wrong('has a fragment');

  const inPath = new Set<string>();
  const spanning = new Set<string>();
  const mark = canonical.replaceAll(EXPRESSION, (all) => ' '.repeat(all.length)).indexOf('?');
  for (const { 0: all, 1: operator, 2: inner = '', index } of canonical.matchAll(EXPRESSION)) {
    if (operator === '#') throw wrong(`has a fragment, ${all}`);
    const isQuery = operator === '?' || operator === '&' || (mark !== -1 && index > mark);
    if (operator === '+' && isQuery) throw wrong(`puts raw text into the query with ${all}; remove the +`);
    if (isQuery) continue;
    for (const name of inner.split(',').map((each) => each.replace(/(?:\*|:\d+)$/, ''))) {
      inPath.add(name);
      if (operator === '+') spanning.add(name);
    }
  }
  const { values = {}, access, description, head } = options;
  for (const name of Object.keys(values))
    if (!parsed.variables.includes(name)) throw wrong(`has no variable named ${JSON.stringify(name)}`);
  const rules = { inPath, spanning, values: new Map(Object.entries(values)) };
  return { text: canonical, parsed, origin, prefix: path, ...rules, access, description, head };
}

/**
 * Returns the resource that a URI means by this template; undefined when it does not match.
 * @throws ResourceError `invalid` for a value that would leave its place
 */
export function matchTemplate(template: WebTemplate, uri: string): Target | undefined {
  if (!uri.startsWith(template.origin)) return undefined;
  const variables = template.parsed.match(uri);
  if (variables === undefined) return undefined;
  for (const [name, value] of Object.entries(variables)) {
    const texts = textsOf(value);
    const allowed = template.values.get(name);
    if (allowed !== undefined && texts.some((text) => !allowed.includes(text))) return undefined;
    const path = template.inPath.has(name);
    if (texts.some((text) => leaves(text, path, template.spanning.has(name)))) throw refused(name, uri);
  }
  // All spellings get one URI, since rules are decided by URI.
  const canonical = template.parsed.expand(variables);
  const url = URL.canParse(canonical) ? new URL(canonical) : undefined;
  if (url === undefined || !isInPlace(template, url, canonical)) throw refused(undefined, uri);
  const { access, description, head } = template;
  return { uri: canonical, url, access, description, head, feed: false };
}

const refused = (name: string | undefined, uri: string): ResourceError =>
  invalid(`The value of ${name === undefined ? 'a variable' : JSON.stringify(name)} leaves its place in the URL`, uri);

const textsOf = (value: TemplateValue): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value : Object.entries(value).flat();

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** How many times a server is assumed to decode a value. */
const ROUNDS = 4;

/** Whether a value, unchanged or decoded repeatedly, is more than a part of its path segment, or has control characters. */
function leaves(value: string, path: boolean, spanning: boolean): boolean {
  if (CONTROL.test(value)) return true;
  if (!path) return CONTROL.test(decodedText(value));
  if (value === '' || (spanning && /[?#]/.test(value))) return true;
  let text = value;
  for (let round = 0; round < ROUNDS; round++) {
    // Some servers remove parameters from a segment before they check it for dots.
    if (CONTROL.test(text) || text.includes('\\') || /(?:^|\/)\.{1,2}(?:[/;]|$)/.test(text)) return true;
    if (text.includes('/') && !spanning) return true;
    if (spanning && /^\/|\/\//.test(text)) return true;
    const next = decodedText(text);
    if (next === text) return false;
    text = next;
  }
  return true;
}

function isInPlace({ origin, prefix, spanning }: WebTemplate, url: URL, uri: string): boolean {
  if (url.origin !== origin || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  if (!url.pathname.startsWith(prefix)) return false;
  // A URI that a client would resolve or rewrite is not the URI that matched.
  if (upperEscapes(url.href) !== upperEscapes(withSlash(uri, origin))) return false;
  const rest = url.pathname.slice(prefix.length);
  if (rest.includes('//') || (prefix.endsWith('/') && rest.startsWith('/'))) return false;
  return rest.split('/').every((segment) => segment === '' || !leaves(decodedText(segment), true, spanning.size > 0));
}

/** Adds the slash of the normal spelling to a URL such as `https://host?q`. */
const withSlash = (uri: string, origin: string): string =>
  uri.slice(origin.length).startsWith('/') ? uri : `${origin}/${uri.slice(origin.length)}`;

const upperEscapes = (text: string): string => text.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase());

/** Returns the template as the wire has it. */
export function describeTemplate({ text, origin, ...template }: WebTemplate): ResourceTemplate {
  const { name, title, description, mimeType, annotations } = template.description;
  return {
    uriTemplate: text,
    name: name ?? new URL(origin).hostname,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(annotations !== undefined && { annotations }),
  };
}
