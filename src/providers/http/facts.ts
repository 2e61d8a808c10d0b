/** Reads facts about a resource from the headers of an answer, and for how long they are believed (RFC 9111). */
import type { CacheHint } from '../../protocol/resources.ts';
import { isPacked } from './decode.ts';
import type { WebAnswer } from './send.ts';

export interface Facts {
  /** Without parameters, but for a charset that is not UTF-8. */
  readonly mimeType?: string | undefined;
  /** Bytes of the content, unpacked. */
  readonly size?: number | undefined;
  /** ISO 8601. */
  readonly lastModified?: string | undefined;
  /** As they came, for conditional requests. */
  readonly etag?: string | undefined;
  readonly modified?: string | undefined;
  /** When it was answered, and until when that counts, in milliseconds since 1970. */
  readonly at: number;
  readonly freshUntil: number;
  /** It must not be kept. */
  readonly noStore: boolean;
  /** Somebody else may be given it. */
  readonly shared: boolean;
}

/** No answer is believed for longer, in milliseconds. */
const MAX_FRESH_MS = 24 * 60 * 60 * 1_000;

/** @param ttlMs how long an answer counts that says nothing of it */
export function factsOf(answer: WebAnswer, { ttlMs, credentials }: { ttlMs: number; credentials: boolean }): Facts {
  const at = Date.now();
  const control = directives(answer.header('cache-control'));
  const fresh = freshMs(answer, control, ttlMs);
  const modified = answer.header('last-modified');
  const time = modified === undefined ? Number.NaN : Date.parse(modified);
  return {
    mimeType: mimeTypeOf(answer.header('content-type')),
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

/** Merges the facts of a 304 answer into the old ones: the rest stays as it was. */
export const renewed = (old: Facts, now: Facts): Facts => ({
  ...old,
  at: now.at,
  freshUntil: now.freshUntil,
  noStore: now.noStore,
  shared: old.shared && now.shared,
  etag: now.etag ?? old.etag,
});

/** Whether two answers are of one content, as far as their validators tell. */
export const sameContent = (a: Facts, b: Facts): boolean =>
  a.etag !== undefined || b.etag !== undefined
    ? a.etag === b.etag
    : a.modified !== undefined && a.modified === b.modified;

/** How long, and for whom, clients may keep it. */
export const hintOf = (facts: Facts): CacheHint => ({
  ttlMs: facts.noStore ? 0 : Math.max(0, facts.freshUntil - Date.now()),
  cacheScope: facts.shared && !facts.noStore ? 'public' : 'private',
});

export function mimeTypeOf(contentType: string | undefined): string | undefined {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const name = type.trim();
  if (!/^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/.test(name)) return undefined;
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([\w.:-]{1,40})"?\s*$/.exec(each)?.[1]).find(Boolean);
  return charset === undefined || UTF8.has(charset) ? name : `${name}; charset=${charset}`;
}

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
