/** Reads resources: cuts windows, checks limits before decoding, and asks the server whether a cached answer is still current. */
import { entriesIn, freshnessIn } from '../connection/results.ts';
import { isNotModified, versionsIn } from '../protocol/content-version.ts';
import { ACCEPT_META_KEY, IF_VERSION_META_KEY, RANGE_META_KEY } from '../protocol/meta.ts';
import { METADATA_METHOD } from '../protocol/methods.ts';
import type { Asking, CallOptions } from './asking.ts';
import { base64Size, utf8Size } from './base64.ts';
import type { Kept, Question } from './cache.ts';
import { type ByteRange, cutItem, itemIn, type ReadItem } from './contents.ts';
import { invalidAnswer, isUnsupported, ResourceClientError } from './errors.ts';
import type { Data, Link } from './link.ts';
import { outcomeOf, type ReadResult } from './outcome.ts';
import { identityOf, isListable, resourceIn } from './shapes.ts';

export interface ReadOptions extends CallOptions {
  /**
   * The wanted formats, best first: `['text/markdown', 'text/*']`, or a text as in HTTP's `Accept`. The client sends them to the
   * server (`vitrine/accept`), and takes the best format in the answer. Default: the format that the server sends first.
   */
  readonly accept?: string | readonly string[] | undefined;
  /**
   * A part of the content, in bytes. A server that knows windows (`vitrine/range`) sends only that part; the client cuts it out
   * of the answer of any other server. A `#` part of the URI (`#L3-L5`) is the server's business.
   */
  readonly range?: ByteRange | undefined;
  /** The most bytes of all contents together, once decoded. Larger ones are refused before decoding. Default: that of the client. */
  readonly maxBytes?: number | undefined;
}

export interface Reading {
  /** @throws ResourceClientError */
  read(uri: string, options: ReadOptions, known: Known): Promise<ReadResult>;
}

/** Returns what the client remembers about a resource from earlier answers. */
export type Known = (uri: string) => { readonly listable: boolean | undefined; readonly size: number | undefined };

const READ = 'resources/read';

/** The most items in one answer. An answer with more is refused. */
const MAX_ITEMS = 10_000;

export function createReading(asking: Asking, defaultMaxBytes: number): Reading {
  const { cache, connection } = asking;

  /** Returns the cached answer if the resource still has the same `lastModified` and `size`. */
  async function revalidated(
    link: Link,
    question: Question,
    kept: Kept,
    options: CallOptions,
  ): Promise<Data | undefined> {
    if (link.learned.metadata === false || kept.validator === undefined) return undefined;
    const { uri } = question;
    const since = cache.mark();
    try {
      const answer = await asking.request(link, METADATA_METHOD, { uri }, options);
      link.learned.metadata = true;
      if (validatorIn(answer.resource) !== kept.validator) return undefined;
      const { ttlMs, cacheScope } = answer;
      const value = { ...kept.value, ...(ttlMs !== undefined && { ttlMs, cacheScope }) };
      await cache.put(question, value, since, kept.validator);
      return kept.value;
    } catch (error) {
      if (isUnsupported(error)) link.learned.metadata = false;
      // The read that follows reports the cause better.
      options.signal?.throwIfAborted();
      return undefined;
    }
  }

  async function fetchWhole(
    uri: string,
    range: ByteRange | undefined,
    accept: readonly string[],
    options: CallOptions,
  ): Promise<{ value: Data; from: ReadResult['from'] }> {
    const part = partOf(range, accept);
    const question = { method: READ, uri, part };
    const whole = { method: READ, uri, part: '' };
    if (options.fresh !== true) {
      for (const candidate of part === '' ? [whole] : accept.length > 0 ? [question] : [question, whole]) {
        const kept = await cache.get(candidate);
        if (kept?.fresh === true) return { value: kept.value, from: 'cache' };
      }
    }
    const name = JSON.stringify([READ, uri, part, options.fresh === true, options.timeoutMs]);
    return cache.once(name, options.signal, async (signal) => {
      const link = await connection.get(signal);
      const inner = { ...options, signal };
      const kept = options.fresh === true ? undefined : await cache.get(question);
      // A server that knows versions gets the cached ones with the read itself, so it is not asked for metadata first.
      const versions = kept && link.facts.ranges ? versionsIn(kept.value) : undefined;
      const unchanged = kept && versions === undefined ? await revalidated(link, question, kept, inner) : undefined;
      if (unchanged !== undefined) return { value: unchanged, from: 'revalidated' as const };
      const since = cache.mark();
      const meta = {
        ...(versions !== undefined && { [IF_VERSION_META_KEY]: versions }),
        ...(range !== undefined && { [RANGE_META_KEY]: wireRange(range) }),
        ...(accept.length > 0 && { [ACCEPT_META_KEY]: accept }),
      };
      const params = { uri, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
      const value = await asking.request(link, READ, params, inner);
      if (kept !== undefined && versions !== undefined && isNotModified(value)) {
        await cache.put(question, { ...kept.value, ...freshnessIn(value) }, since, kept.validator);
        return { value: kept.value, from: 'revalidated' as const };
      }
      const items = entriesIn(value, 'contents') ?? [];
      const windowed = items.some((item) => itemIn(item, uri)?.window !== undefined);
      await cache.put(windowed || accept.length > 0 ? question : whole, value, since, validatorOf(value, items, uri));
      return { value, from: 'server' as const };
    });
  }

  // The items of each answer that is still in memory.
  const made = new WeakMap<
    Data,
    { readonly uri: string; readonly items: readonly ReadItem[]; readonly size: number }
  >();

  /** Returns the items of an answer and the sum of their bytes, counted before anything is decoded (SEC-RES-3). */
  function itemsOf(value: Data, entries: readonly unknown[], uri: string) {
    const cached = made.get(value);
    if (cached?.uri === uri) return cached;
    const size = entries.reduce<number>((sum, entry) => sum + sizeOf(entry), 0);
    const fresh = { uri, items: entries.flatMap((entry) => itemIn(entry, uri) ?? []), size };
    made.set(value, fresh);
    return fresh;
  }

  return {
    async read(uri, options, known) {
      const { maxBytes = defaultMaxBytes, range, accept } = options;
      checkRange(range, uri);
      const before = known(uri);
      if (range === undefined && before.size !== undefined && before.size > maxBytes) {
        throw tooLarge(uri, before.size, maxBytes);
      }
      const { value, from } = await fetchWhole(uri, range, formatsIn(accept), options);
      const entries = entriesIn(value, 'contents');
      if (entries === undefined || entries.length > MAX_ITEMS) {
        throw invalidAnswer('The answer of the server has no contents that can be taken', uri);
      }
      // If the client cuts the window, the whole answer may be larger than `maxBytes`. `checkTotal` then checks the window.
      const limit = range === undefined ? maxBytes : maxBytes * WHOLE_FACTOR;
      const { items, size } = itemsOf(value, entries, uri);
      if (size > limit) throw tooLarge(uri, size, limit);
      const cut = range === undefined ? items : items.map((item) => windowOf(item, range, uri));
      if (range !== undefined) checkTotal(cut, uri, maxBytes);
      return outcomeOf(cut, {
        uri,
        listable: before.listable,
        declaring: connection.current?.facts.metadata === true,
        accept,
        dropped: entries.length - items.length,
        from,
        result: value,
      });
    },
  };
}

/** A server without windows sends the whole resource instead. It may have this many times `maxBytes`. */
const WHOLE_FACTOR = 16;

const partOf = (range: ByteRange | undefined, accept: readonly string[]): string =>
  [
    ...(range === undefined ? [] : [`${range.offset ?? 0}+${range.length ?? ''}`]),
    ...(accept.length === 0 ? [] : [JSON.stringify(accept)]),
  ].join(' ');

/** The most formats that are sent to a server, and the most characters of each. */
const MAX_FORMATS = 64;
const MAX_FORMAT_LENGTH = 255;

/** Returns the formats to send, without those that are too long to be a type. */
function formatsIn(accept: ReadOptions['accept']): readonly string[] {
  const patterns = typeof accept === 'string' ? accept.split(',') : (accept ?? []);
  return patterns
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '' && pattern.length <= MAX_FORMAT_LENGTH)
    .slice(0, MAX_FORMATS);
}

const wireRange = ({ offset, length }: ByteRange): ByteRange => ({
  ...(offset !== undefined && { offset }),
  ...(length !== undefined && { length }),
});

/** @throws ResourceClientError `invalid` */
function checkRange(range: ByteRange | undefined, uri: string): void {
  const wrong = (value: number | undefined, least: number): boolean =>
    value !== undefined && !(Number.isSafeInteger(value) && value >= least);
  if (range === undefined || !(wrong(range.offset, 0) || wrong(range.length, 1))) return;
  throw new ResourceClientError('invalid', 'A range is an offset from 0 and a length from 1, in bytes', { uri });
}

/** @throws ResourceClientError `invalid` for a window past the end */
function windowOf(item: ReadItem, range: ByteRange, uri: string): ReadItem {
  if (item.window !== undefined) return item;
  const { offset = 0 } = range;
  if (offset > item.byteLength) {
    throw new ResourceClientError('invalid', `The range begins past the end: there are ${item.byteLength} bytes`, {
      uri,
      data: { total: item.byteLength },
    });
  }
  return cutItem(item, range);
}

function checkTotal(items: readonly ReadItem[], uri: string, maxBytes: number): void {
  const total = items.reduce((sum, item) => sum + item.byteLength, 0);
  if (total > maxBytes) throw tooLarge(uri, total, maxBytes);
}

/** The error for contents over `maxBytes`. */
export const tooLarge = (uri: string, size: number, maxBytes: number): ResourceClientError =>
  new ResourceClientError('too-large', `The contents have more than ${maxBytes} bytes`, {
    uri,
    data: { size, maxBytes },
  });

function sizeOf(entry: unknown): number {
  const { text, blob } = (entry ?? {}) as Data;
  return (typeof text === 'string' ? utf8Size(text) : 0) + (typeof blob === 'string' ? base64Size(blob) : 0);
}

/** Returns a text that identifies one version of a resource; undefined if the server sends no `lastModified`. */
function validatorIn(value: unknown): string | undefined {
  const resource = resourceIn(value, '');
  const modified = resource?.annotations?.lastModified;
  if (resource === undefined || typeof modified !== 'string') return undefined;
  return JSON.stringify([modified, resource.size ?? null]);
}

/**
 * Returns a text that changes when the answer does: the versions of its contents, or else the last change and size of the
 * resource. Undefined if the answer has other items or is of a container, since children change without their container.
 */
function validatorOf(value: Data, items: readonly unknown[], uri: string): string | undefined {
  const versions = versionsIn(value);
  if (versions !== undefined) return versions.join(' ');
  const [first] = items;
  const resource = resourceIn(first, uri);
  if (items.length !== 1 || resource === undefined || identityOf(resource.uri) !== identityOf(uri)) return undefined;
  return isListable(resource) === true ? undefined : validatorIn(resource);
}
