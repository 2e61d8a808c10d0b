/** Finds the bytes that an HTTP request wants, and whether its client has them already (RFC 9110 13 and 14). */
import { versionFrom } from '../../../core/content-version.ts';
import { VERSION } from '../../../core/version.ts';
import { ETAG_META_KEY, GIT_META_KEY } from '../../../protocol/meta.ts';
import type { Resource } from '../../../protocol/resources.ts';
import type { HttpRequest } from '../exchange.ts';

export interface Span {
  readonly from: number;
  /** The position after the last byte. */
  readonly to: number;
}

/**
 * How old the time of a change has to be, in milliseconds, before it can tell two versions apart. Two changes within the
 * resolution of the clock have the same time.
 */
const SURE_MS = 2_000;

export interface Version {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/** The ETag and date of a content, as far as known. @param as the format */
export function versionOf(resource: Resource, as: string | undefined): Version {
  const { _meta, annotations, size } = resource;
  const time = Date.parse(String(annotations?.lastModified));
  const hash = _meta?.[ETAG_META_KEY] ?? (_meta?.[GIT_META_KEY] as { readonly hash?: unknown } | undefined)?.hash;
  const lastModified = Number.isNaN(time) ? undefined : new Date(time).toUTCString();
  if (hash === undefined && Number.isNaN(time)) return { etag: undefined, lastModified };
  const strong = hash !== undefined || (size !== undefined && Date.now() - time >= SURE_MS);
  return {
    etag: versionFrom([VERSION, hash ?? null, time, size ?? null, as ?? null], !strong),
    lastModified,
  };
}

/** Whether the client has this version already, according to its conditional headers. */
export function isUnchanged({ headers }: HttpRequest, { etag, lastModified }: Version): boolean {
  const tags = headers.get('if-none-match');
  if (tags !== null) {
    const own = etag?.replace(/^W\//, '');
    return tags.trim() === '*' || (own !== undefined && [...tags.matchAll(/"[^"]*"/g)].some(([tag]) => tag === own));
  }
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  return lastModified !== undefined && !Number.isNaN(since) && Date.parse(lastModified) <= since;
}

/**
 * The range of bytes that a request wants; undefined for the whole content, which is also sent for several ranges or other units.
 * `unsatisfiable` for a range that contains none of the bytes.
 */
export function spanOf(
  { headers, method }: HttpRequest,
  size: number,
  version: Version,
): Span | 'unsatisfiable' | undefined {
  const range = headers.get('range');
  if (range === null || method !== 'GET' || !isSame(headers.get('if-range'), version)) return undefined;
  const [, first = '', last = ''] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range) ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  return from >= size ? 'unsatisfiable' : { from, to: last === '' ? size : Math.min(Number(last) + 1, size) };
}

/** Whether `If-Range` names this version; true without the header. Weak tags never match. */
function isSame(condition: string | null, { etag, lastModified }: Version): boolean {
  if (condition === null) return true;
  if (condition.includes('"')) return etag !== undefined && !etag.startsWith('W/') && condition.trim() === etag;
  return lastModified !== undefined && etag?.startsWith('W/') === false && condition.trim() === lastModified;
}
