/**
 * Addresses of resources in the explorer. A hierarchical URI keeps its form, so that people can read the address, and programs
 * that copy a folder get the same folder: `museum+file:///clocks/a.md` is at `/view/museum+file/clocks/a.md`. Any other URI, such
 * as one with a query, goes into the query as a whole: `/view?uri=memo%3Ax`. Each URI has one address.
 */

/** `view`: the page of a resource. `raw`: its bytes, or the list of a folder. */
export type Route = 'view' | 'raw';

const HIERARCHICAL = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)\/([^?#]*)$/;

/** Text that browsers leave unchanged in a path (RFC 3986 `pchar`). */
const PLAIN = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$/;

/** Segments that browsers remove, even where they are escaped. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Sends the user to the token issuer, and then back to the address in `to`. */
export const SIGN_IN_PATH = '/explorer/sign-in';
/** Accepts a `POST` only from pages of this server. */
export const SIGN_OUT_PATH = '/explorer/sign-out';

export function addressOf(route: Route, uri: string): string {
  return pathOf(route, uri) ?? `/${route}?uri=${encodeURIComponent(uri.toWellFormed())}`;
}

/**
 * The address of a folder's list. Its path ends in a slash, so that a program that copies it makes a folder, unless the URI is
 * in the query.
 */
export function listingAddress(uri: string): string {
  const path = pathOf('raw', uri);
  return path === undefined || path.endsWith('/') ? addressOf('raw', uri) : `${path}/`;
}

function pathOf(route: Route, uri: string): string | undefined {
  const [, scheme = '', authority = '', path = ''] = HIERARCHICAL.exec(uri) ?? [];
  if (scheme === '' || !PLAIN.test(authority)) return undefined;
  // In an address, a trailing slash marks a folder's list, whatever the spelling of the URI.
  const segments = path === '' ? [] : path.split('/');
  if (segments.some((segment) => segment === '' || !PLAIN.test(segment) || DOTS.test(segment))) return undefined;
  return `/${route}/${authority === '' ? scheme : `${scheme}:${authority}`}/${path}`;
}

/** The target of an address. */
export interface Addressed {
  readonly route: Route;
  readonly uri: string;
  /** Whether the address ends in a slash, as the list of a folder does. */
  readonly folder: boolean;
}

/** @param path the raw path of the request; undefined is returned where it names no resource */
export function addressed(path: string, query: URLSearchParams): Addressed | undefined {
  const [, route, first = '', rest = ''] = /^\/(view|raw)(?:\/([^/]*)(.*))?$/s.exec(path) ?? [];
  if (route !== 'view' && route !== 'raw') return undefined;
  if (first === '') {
    const uri = query.get('uri') ?? '';
    return uri === '' || rest !== '' ? undefined : { route, uri, folder: false };
  }
  const [, scheme, authority = ''] = /^([a-z][a-z0-9+.-]*)(?::(.*))?$/s.exec(first) ?? [];
  if (scheme === undefined) return undefined;
  const folder = rest === '' || rest.endsWith('/');
  const inner = rest.length > 1 && folder ? rest.slice(0, -1) : rest;
  return { route, uri: `${scheme}://${authority}${inner === '' ? '/' : inner}`, folder };
}

/** Returns the address with these parameters; undefined ones are left out. */
export function withQuery(address: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [`${name}=${encodeURIComponent(value.toWellFormed())}`],
    )
    .join('&');
  return query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`;
}

/** Quotes a text as one word of a shell command. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
