/**
 * Finds the other spellings of another server's URI. That server may decode, resolve and shorten a URI in its own ways, so that
 * several spellings lead to one resource. A policy that decides by URI decides about each spelling, and the strictest counts.
 */
import { domainToUnicode } from 'node:url';
import { encodeSegment, schemeOf } from '../uri.ts';
import { decodedOnce, MAX_DECODING, withoutIgnored } from './decoding.ts';

export interface ForeignSpellings {
  /**
   * The normal form by RFC 3986 section 6.2.2 and the URL standard. A server that follows them treats it as the same resource.
   */
  readonly normal: readonly string[];
  /** Spellings that a careless server could treat as the same resource. */
  readonly possible: readonly string[];
}

const NONE: ForeignSpellings = { normal: [], possible: [] };

/** Schemes whose URLs always have a path, and all but those of files a host (URL standard). Also the port that may be left out. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443', ftp: '21' };
const WITH_PATH: ReadonlySet<string> = new Set(['file', ...Object.keys(DEFAULT_PORTS)]);

/** A host that is written in one way only: the last part of a name is no number, and no part is in Punycode. */
const HOST = /(?![^/]*xn--)(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*/.source;

const SEGMENT = /\/[\w~-][\w.~!$&'()*+,;=:@-]*/.source;

/**
 * Matches URIs without variants: lower case before the path, no double slashes, escapes, leading dots, query or final slash, and a
 * path where the scheme requires one.
 */
const PLAIN = new RegExp(
  [
    `^(?!(?:${[...WITH_PATH].join('|')}):)[a-z][a-z0-9.-]*:(?://[a-z0-9.-]*)?(?:${SEGMENT})*$`,
    `^(?:${Object.keys(DEFAULT_PORTS).join('|')})://${HOST}(?:${SEGMENT})+$`,
    '^file://(?:/[\\w~-][\\w.~-]*)+$',
  ].join('|'),
);

export function foreignSpellings(uri: string): ForeignSpellings {
  if (PLAIN.test(uri)) return NONE;
  const normal = normalForm(uri);
  const readings = [uri, uri.replace(/[?#].*$/s, '')].flatMap((each) => {
    const careless = carelessForm(each);
    return [careless, standardForm(each), standardForm(careless)];
  });
  const forms = [normal, ...readings].flatMap((each) => [each, ...otherHosts(each)]);
  const possible = new Set(forms.flatMap((each) => [each, withoutRootSlash(each)]));
  possible.delete(uri);
  // A rule that allows `https://x` as it stands need not allow `https://x/` too.
  if (normal === uri || withoutRootSlash(normal) === uri) return { normal: [], possible: [...possible] };
  possible.delete(normal);
  return { normal: [normal], possible: [...possible] };
}

/** Returns a URL as the URL standard reads it: `https:/x`, `https:x` and `https:///x` mean `https://x/`, and hosts are decoded. */
function standardForm(uri: string): string {
  const scheme = schemeOf(withoutIgnored(uri).trim());
  return scheme !== undefined && WITH_PATH.has(scheme) && URL.canParse(uri) ? new URL(uri).href : uri;
}

const WITH_HOST = /^([^:/?#]+:\/\/)(?:[^/?#\\]*@)?(\[[^\]]*\]|[^/?#\\@:]*)(:\d+)?([/?#\\].*)?$/s;

/** An IPv4 address in IPv6, as the URL standard writes it. */
const MAPPED = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * Returns the URI with other names of its host: without a user and the dot of the root, in Unicode in place of Punycode, and as an IPv4
 * address.
 */
function otherHosts(uri: string): readonly string[] {
  const [, begin, host = '', port = '', rest = ''] = WITH_HOST.exec(uri) ?? [];
  if (begin === undefined) return [];
  const name = host.replace(/\.$/, '');
  const [, high, low] = MAPPED.exec(name) ?? [];
  const names = [name, name.includes('xn--') ? domainToUnicode(name) : '', high && low ? dotted(high, low) : ''];
  return names.filter((each) => each !== '').map((each) => begin + each + port + rest);
}

const dotted = (...groups: readonly string[]): string =>
  groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]).join('.');

/** A rule may be about `x://host` where the server has `x://host/`. */
const withoutRootSlash = (uri: string): string => uri.replace(/^([^:/?#]+:\/\/[^/?#]+)\/(?=[?#]|$)/, '$1');

interface Parts {
  readonly scheme: string;
  readonly authority: string | undefined;
  readonly path: string;
  /** The raw query and fragment. */
  readonly rest: string;
}

const PARTS = /^([^:/?#]*):(?:\/\/([^/?#\\]*))?([^?#]*)(.*)$/s;

/** Splits a URI into its parts; undefined for a URI without a scheme. */
function partsOf(uri: string): Parts | undefined {
  const found = PARTS.exec(uri);
  if (found === null) return undefined;
  const [, scheme = '', authority, path = '', rest = ''] = found;
  return { scheme: scheme.toLowerCase(), authority, path, rest };
}

/** Normalizes a URI until it does not change any more, up to four times: without its dot segments, it may need it again. */
function normalForm(uri: string): string {
  let form = normalOnce(uri);
  for (let round = 0; round < MAX_DECODING; round++) {
    const next = normalOnce(form);
    if (next === form) break;
    form = next;
  }
  return form;
}

function normalOnce(uri: string): string {
  // URL parsers drop these characters at both ends.
  const trimmed = withoutIgnored(uri).replace(/^[\u0000-\u0020]+|[\u0000-\u0020]+$/g, '');
  const parts = partsOf(trimmed);
  if (parts === undefined) return trimmed;
  const { scheme, rest } = parts;
  const path = withoutDots(unreservedDecoded(parts.path));
  const authority = authorityOf(parts);
  if (authority === undefined) return `${scheme}:${path}${unreservedDecoded(rest)}`;
  const whole = path === '' && WITH_PATH.has(scheme) ? '/' : path;
  return `${scheme}://${authority}${whole}${unreservedDecoded(rest)}`;
}

/** Returns the authority; `file:/x` and `file://localhost/x` mean `file:///x`. */
function authorityOf({ scheme, authority, path }: Parts): string | undefined {
  if (authority === undefined) return scheme === 'file' && path.startsWith('/') ? '' : undefined;
  const at = authority.lastIndexOf('@') + 1;
  const host = authority.slice(at).toLowerCase();
  if (scheme === 'file' && host === 'localhost') return '';
  const port = DEFAULT_PORTS[scheme];
  return authority.slice(0, at) + (port === undefined ? host : host.replace(new RegExp(`:${port}?$`), ''));
}

const unreservedDecoded = (text: string): string =>
  text.replace(/%[0-9A-Fa-f]{2}/g, (octet) => {
    const char = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
    return /[\w.~-]/.test(char) ? char : octet.toUpperCase();
  });

/** Removes dot segments (RFC 3986 section 5.2.4). */
function withoutDots(path: string): string {
  if (!/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  const segments = path.split('/');
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..' && (kept.length > 1 || (kept.length === 1 && kept[0] !== ''))) kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (isLast) kept.push('');
  }
  return kept.join('/');
}

/** Returns the URI as a careless server reads it: fully decoded, backslashes as slashes, single slashes, none at the end. */
function carelessForm(uri: string): string {
  let text = withoutIgnored(uri).trim();
  for (let round = 0; round < MAX_DECODING; round++) text = decodedOnce(text);
  const parts = partsOf(normalForm(text.replace(/\\/g, '/')));
  if (parts === undefined) return text;
  const { scheme, authority, rest } = parts;
  const path = withoutDots(parts.path.replace(/\/{2,}/g, '/')).replace(/(?<=.)\/$/, '');
  const written = path.split('/').map(encodeSegment).join('/');
  return `${scheme}:${authority === undefined ? '' : `//${authority}`}${written}${rest}`;
}
