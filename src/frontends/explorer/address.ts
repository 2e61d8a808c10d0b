/**
 * Addresses of resources in the explorer. A hierarchical URI keeps its form, so that a person can read the address, and what
 * copies a folder makes the same folder: `museum+file:///clocks/a.md` is at `/view/museum+file/clocks/a.md`. Any other URI,
 * such as one with a query, goes whole into the query: `/view?uri=memo%3Ax`. Each URI has one address.
 */

/** `view`: the page of a resource. `raw`: its bytes, or the list of a folder. */
export type Route = 'view' | 'raw';

const HIERARCHICAL = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)\/([^?#]*)$/;

/** Text that a browser leaves as it is in a path (RFC 3986 `pchar`). */
const PLAIN = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$/;

/** Browsers take these out, also where they are escaped. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Sends a person to the issuer of tokens, and then back to the address in `to`. */
export const SIGN_IN_PATH = '/explorer/sign-in';
/** Takes a `POST` of a page of this server alone. */
export const SIGN_OUT_PATH = '/explorer/sign-out';

export function addressOf(route: Route, uri: string): string {
  return pathOf(route, uri) ?? `/${route}?uri=${encodeURIComponent(uri.toWellFormed())}`;
}

/** Of the list of a folder: with a slash at the end, so that what copies it makes a folder. */
export function listingAddress(uri: string): string {
  const path = pathOf('raw', uri);
  return path === undefined || path.endsWith('/') ? addressOf('raw', uri) : `${path}/`;
}

function pathOf(route: Route, uri: string): string | undefined {
  const [, scheme = '', authority = '', path = ''] = HIERARCHICAL.exec(uri) ?? [];
  if (scheme === '' || !PLAIN.test(authority)) return undefined;
  // The end of a path says of an address whether it is a folder's, and not how the URI is spelled.
  const segments = path === '' ? [] : path.split('/');
  if (segments.some((segment) => segment === '' || !PLAIN.test(segment) || DOTS.test(segment))) return undefined;
  return `/${route}/${authority === '' ? scheme : `${scheme}:${authority}`}/${path}`;
}

/** The target of an address. */
export interface Addressed {
  readonly route: Route;
  readonly uri: string;
  /** It ends in a slash, as the list of a folder does. */
  readonly folder: boolean;
}

/** @param path of the request, as it was sent; undefined where it is of no resource */
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

/** The same address with these parameters; what is undefined is left out. */
export function withQuery(address: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [`${name}=${encodeURIComponent(value.toWellFormed())}`],
    )
    .join('&');
  return query === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${query}`;
}
