/**
 * Parses and builds URIs, in one place (SEC-RES-1), so that percent-encoding, dot segments, encoded slashes,
 * backslashes, control characters and broken UTF-8 are handled alike everywhere.
 *
 * `parseTreeUri` decodes escapes exactly once. It refuses in every spelling: a `.` or `..` segment, an empty inner segment, and
 * an escape that decodes to a slash, a backslash, a control character, U+FFFD or invalid UTF-8. It accepts unescaped spaces and
 * non-ASCII characters, which people type, as if they were escaped. `splitUri` only splits a URI of any scheme, and decodes nothing.
 */
import { invalid } from './errors.ts';

/** The most UTF-16 units of a URI. */
export const MAX_URI_LENGTH = 65_536;

/** The parts of a URI (RFC 3986 section 3), split and checked but not decoded. */
export interface UriParts {
  /** Lower case. */
  readonly scheme: string;
  /** Without `//`; undefined where the URI has none (`urn:a:b`). */
  readonly authority: string | undefined;
  readonly path: string;
  /** Without `?`. */
  readonly query: string | undefined;
  /** Without `#`. */
  readonly fragment: string | undefined;
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\\]/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/**
 * Splits a URI of any scheme (RES-1).
 * @throws ResourceError `invalid`
 */
export function splitUri(uri: string): UriParts {
  if (uri.length > MAX_URI_LENGTH) throw invalid(`A URI has at most ${MAX_URI_LENGTH} characters`);
  if (FORBIDDEN.test(uri))
    throw invalid('A URI must not contain control characters or backslashes; percent-encode them');
  if (!uri.isWellFormed()) throw invalid('The URI contains half of a surrogate pair');
  if (BAD_ESCAPE.test(uri))
    throw invalid('A percent sign must be followed by two hex digits; write %25 for the sign itself', uri);
  const colon = uri.indexOf(':');
  const scheme = uri.slice(0, Math.max(colon, 0));
  if (!SCHEME.test(scheme)) throw invalid('A URI starts with a scheme, as in file:///notes.md', uri);
  const [beforeFragment, fragment] = cut(uri.slice(colon + 1), '#');
  const [hierarchy, query] = cut(beforeFragment, '?');
  if (!hierarchy.startsWith('//')) {
    return { scheme: scheme.toLowerCase(), authority: undefined, path: hierarchy, query, fragment };
  }
  const slash = hierarchy.indexOf('/', 2);
  const end = slash === -1 ? hierarchy.length : slash;
  return {
    scheme: scheme.toLowerCase(),
    authority: hierarchy.slice(2, end),
    path: hierarchy.slice(end),
    query,
    fragment,
  };
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** The path of a hierarchical URI: decoded names below the root. */
export interface TreePath {
  /** Decoded names from the root down; empty for the root. */
  readonly segments: readonly string[];
  /** Whether the URI ended in a slash, which means a container (VS Code's convention). */
  readonly trailingSlash: boolean;
}

/**
 * Decodes a URI of one scheme into names below the root. The authority must be empty or `localhost`.
 * @throws ResourceError `invalid` when it is malformed; never `not-found`
 */
export function parseTreeUri(uri: string, scheme: string): TreePath {
  const parts = splitUri(uri);
  if (parts.scheme !== scheme) throw invalid(`A URI here starts with ${scheme}:///`, uri);
  if (parts.authority !== undefined && parts.authority !== '' && parts.authority.toLowerCase() !== 'localhost') {
    throw invalid(`A ${scheme} URI has no host: write ${scheme}:///path with three slashes`, uri);
  }
  if (parts.query !== undefined) throw invalid(`A ${scheme} URI has no query; write %3F for a question mark`, uri);
  if (parts.fragment !== undefined) throw invalid(`A ${scheme} URI has no fragment; write %23 for a hash sign`, uri);
  if (parts.path === '' || parts.path === '/') return { segments: [], trailingSlash: parts.path === '/' };
  if (!parts.path.startsWith('/')) throw invalid(`A ${scheme} URI is absolute: write ${scheme}:///path`, uri);
  const trailingSlash = parts.path.endsWith('/');
  const raw = parts.path.slice(1, trailingSlash ? -1 : undefined).split('/');
  return { segments: raw.map((segment) => decodeSegment(segment, uri)), trailingSlash };
}

/**
 * Decodes one path segment, once.
 * @throws ResourceError `invalid` for an empty name, dots, slashes, backslashes, control characters, U+FFFD and text that
 *   is not valid Unicode
 */
export function decodeSegment(segment: string, uri?: string): string {
  let name: string;
  try {
    name = decodeURIComponent(segment);
  } catch (cause) {
    throw invalid('The escapes of the URI are not valid UTF-8', uri).withCause(cause);
  }
  const problem = nameProblem(name);
  if (problem !== undefined) throw invalid(problem, uri);
  return name;
}

/** Returns the reason why a name cannot be a path segment; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'The path has an empty segment; write single slashes';
  if (name === '.' || name === '..') return 'The path has a dot segment; send the URI in its resolved form';
  if (name.includes('/')) return 'A name must not contain a slash, encoded or not';
  if (FORBIDDEN.test(name)) return 'A name must not contain control characters or backslashes, encoded or not';
  if (!name.isWellFormed() || name.includes('\ufffd'))
    return 'The name is not valid Unicode, or has a replacement character (U+FFFD)';
  return undefined;
}

/** The beginning of a segment that encodes an unusual name in hexadecimal UTF-8. */
export const ODD_NAME = ';x=';

/**
 * Encodes any text without slashes as a segment, for names from elsewhere. A name that can be a segment (`nameProblem`) and does
 * not begin with `;x=` stays unchanged. Any other one becomes `;x=` and its UTF-8 in hexadecimal: an empty name, dots, and names
 * with control characters, backslashes or U+FFFD. Each well-formed text without slashes has exactly one segment, which
 * `nameOfSegment` decodes.
 */
export function segmentOfName(name: string): string {
  return nameProblem(name) === undefined && !name.startsWith(ODD_NAME)
    ? name
    : ODD_NAME + Array.from(new TextEncoder().encode(name), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Decodes a segment from `segmentOfName`. @throws ResourceError `invalid` for another spelling of the name */
export function nameOfSegment(segment: string, uri?: string): string {
  if (!segment.startsWith(ODD_NAME)) return segment;
  const bytes = segment.slice(ODD_NAME.length).match(/../g) ?? [];
  const name = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.from(bytes, (hex) => Number(`0x${hex}`)),
  );
  if (segmentOfName(name) !== segment || name.includes('/'))
    throw invalid(
      `A segment that begins with ${ODD_NAME} must continue with the hexadecimal UTF-8 of an unusual name`,
      uri,
    );
  return name;
}

/** Encodes a name canonically: RFC 3986 `pchar` stays, everything else becomes percent-encoded UTF-8. */
export function encodeSegment(name: string): string {
  return encodeURIComponent(name).replace(/%(?:21|24|26|27|28|29|2A|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
}

/** Writes the canonical URI of a path below the root: without a trailing slash, except for the root `scheme:///`. */
export function treeUri(scheme: string, segments: readonly string[]): string {
  return `${scheme}:///${segments.map(encodeSegment).join('/')}`;
}

/** Returns the scheme of any URI, in lower case, or undefined. Use it for routing only: the rest is not checked. */
export function schemeOf(uri: string): string | undefined {
  const colon = uri.indexOf(':');
  if (colon < 1 || colon > 256) return undefined;
  const scheme = uri.slice(0, colon);
  return SCHEME.test(scheme) ? scheme.toLowerCase() : undefined;
}

/**
 * Returns the last segment of a URI's path with the query, decoded, as a name: the host if there is no path. Undefined for a root
 * such as `notes:///`.
 */
export function nameOfUri(uri: string): string | undefined {
  const [, path = '', rest = ''] = /^(?:[^:/?#]*:)?([^?#]*)(.*)$/s.exec(uri) ?? [];
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  const name = path.slice(path.lastIndexOf('/', end - 1) + 1, end) + rest;
  return name === '' ? undefined : decodedText(name);
}

/** Decodes the escapes of a text; returns it unchanged where they are not valid UTF-8. */
export function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the beginning that the URIs of everything below a container share. */
export const insideOf = (uri: string): string => (uri.endsWith('/') ? uri : `${uri}/`);
