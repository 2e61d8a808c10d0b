/** Reads facts about a resource from the headers of an answer, and how long they are fresh (RFC 9111). */
import type { CacheHint } from '../../protocol/resources.ts';
import { isPacked } from './decode.ts';
import type { WebAnswer } from './send.ts';

export interface Facts {
  /** The MIME type without parameters, except for a charset that is not UTF-8. */
  readonly mimeType?: string | undefined;
  /** The charset of the header `Content-Type`, in lower case. */
  readonly charset?: string | undefined;
  /** Bytes of the content, unpacked. */
  readonly size?: number | undefined;
  /** ISO 8601. */
  readonly lastModified?: string | undefined;
  /** The header `ETag` as it came, for conditional requests. */
  readonly etag?: string | undefined;
  /** The header `Last-Modified` as it came, for conditional requests; undefined if it is not a date. */
  readonly modified?: string | undefined;
  /** When the answer came, in milliseconds since 1970. */
  readonly at: number;
  /** Until when the answer is fresh, in milliseconds since 1970. */
  readonly freshUntil: number;
  /** Whether the answer must not be kept. */
  readonly noStore: boolean;
  /** Whether other callers may get the same answer. */
  readonly shared: boolean;
}

/** The most milliseconds for which an answer is fresh, whatever its headers say. */
const MAX_FRESH_MS = 24 * 60 * 60 * 1_000;

/**
 * @param ttlMs how long an answer is fresh if its headers do not say
 * @param credentials whether the request had credentials, so that the answer is not for others
 */
export function factsOf(answer: WebAnswer, { ttlMs, credentials }: { ttlMs: number; credentials: boolean }): Facts {
  const at = Date.now();
  const control = directives(answer.header('cache-control'));
  const fresh = freshMs(answer, control, ttlMs);
  const modified = answer.header('last-modified');
  const time = modified === undefined ? Number.NaN : Date.parse(modified);
  return {
    ...typeOf(answer.header('content-type')),
    size: sizeOf(answer),
    lastModified: Number.isFinite(time) ? new Date(time).toISOString() : undefined,
    etag: answer.header('etag'),
    modified: Number.isFinite(time) ? modified : undefined,
    at,
    freshUntil: at + Math.min(Math.max(0, fresh), MAX_FRESH_MS),
    noStore: control.has('no-store') || answer.header('vary')?.includes('*') === true,
    shared: !credentials && !control.has('private'),
  };
}

/** Returns the old facts with the new facts of a 304 answer. */
export const renewed = (old: Facts, now: Facts): Facts => ({
  ...old,
  at: now.at,
  freshUntil: now.freshUntil,
  noStore: now.noStore,
  shared: old.shared && now.shared,
  etag: now.etag ?? old.etag,
});

/** Whether two answers have the same content, judging by `ETag` or, if both have none, by `Last-Modified`. */
export const sameContent = (a: Facts, b: Facts): boolean =>
  a.etag !== undefined || b.etag !== undefined
    ? a.etag === b.etag
    : a.modified !== undefined && a.modified === b.modified;

/** Returns how long, and for whom, clients may keep the resource. */
export const hintOf = (facts: Facts): CacheHint => ({
  ttlMs: facts.noStore ? 0 : Math.max(0, facts.freshUntil - Date.now()),
  cacheScope: facts.shared && !facts.noStore ? 'public' : 'private',
});

function typeOf(contentType: string | undefined): Pick<Facts, 'mimeType' | 'charset'> {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const name = type.trim();
  if (!/^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/.test(name)) return {};
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([\w.:-]{1,40})"?\s*$/.exec(text)?.[1]).find(Boolean);
  if (charset === undefined) return { mimeType: name };
  return UTF8.has(charset)
    ? { mimeType: name, charset: 'utf-8' }
    : { mimeType: `${name}; charset=${charset}`, charset };
}

/** UTF-8 and its subset. */
const UTF8: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

function sizeOf(answer: WebAnswer): number | undefined {
  const length = answer.header('content-length');
  if (length === undefined || isPacked(answer) || !/^\d{1,15}$/.test(length)) return undefined;
  return Number(length);
}

function directives(cacheControl: string | undefined): ReadonlyMap<string, string> {
  const parts = (cacheControl ?? '').toLowerCase().split(',');
  return new Map(
    parts.map((part) => {
      const [name = '', value = ''] = part.split('=');
      return [name.trim(), value.trim().replaceAll('"', '')] as const;
    }),
  );
}

function freshMs(answer: WebAnswer, control: ReadonlyMap<string, string>, ttlMs: number): number {
  if (control.has('no-store') || control.has('no-cache')) return 0;
  const age = Number(answer.header('age') ?? 0);
  const maxAge = control.get('max-age');
  if (maxAge !== undefined) {
    const seconds = /^\d{1,10}$/.test(maxAge) ? Number(maxAge) : 0;
    return (seconds - (Number.isFinite(age) ? age : 0)) * 1_000;
  }
  const expires = answer.header('expires');
  if (expires === undefined) return ttlMs;
  const date = Date.parse(answer.header('date') ?? '');
  const until = Date.parse(expires) - (Number.isFinite(date) ? date : Date.now());
  return Number.isFinite(until) ? until : 0;
}
