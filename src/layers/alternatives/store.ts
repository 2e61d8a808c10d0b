/** Makes and keeps formats, by the content that they are made of. A format that several callers want at a time is made once. */

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createLru } from '../../core/lru.ts';
import type { AnswerKey, SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Format } from './catalogue.ts';
import type { AlternativesLimits } from './options.ts';
import { createPool } from './pool.ts';
import { isStartRefused, type ProcessOptions } from './process.ts';
import { converterVersions } from './versions.ts';

export interface FormatStore {
  /** Returns the hash of the content that this version has for this caller; undefined if it has to be read first. */
  versionOf(resource: Resource, ctx: Context): string | undefined;
  /** Remembers the hash of the content that this version has for this caller. */
  learn(resource: Resource, content: string, ctx: Context): void;
  /** The kept format of a content, or the kept error of its conversion; undefined if there is neither. */
  kept(content: string, from: string, format: Format): Made | undefined;
  /** Makes a format. @throws ResourceError the error of the conversion, or the reason of the signal */
  make(content: string, bytes: Uint8Array, from: string, format: Format, ctx: Context): Promise<Uint8Array>;
  /** The number of conversions that have begun. */
  conversions(): number;
  close(): Promise<void>;
}

export interface FormatStoreContext extends Pick<ProcessOptions, 'program'> {
  /** Shares formats with other replicas and with later processes. Default: each process makes its own. */
  readonly answers?: SharedAnswers | undefined;
}

/** A format that is being made, or waits for its turn. */
interface Making {
  readonly key: string;
  /** The key together with the caller whose turn it waits for. */
  readonly ownKey: string;
  readonly format: Promise<Uint8Array>;
  readonly ended: AbortController;
  /** How many requests wait for it. */
  wanted: number;
}

const ownKeyOf = (key: string, caller: string): string => JSON.stringify([caller, key]);

/** A format, or the error of its conversion. */
export type Made = { readonly bytes: Uint8Array } | { readonly error: ResourceError };

/** The most versions whose content is remembered. */
const MAX_VERSIONS = 10_000;

/** The most formats that are kept, however small they are. */
const MAX_FORMATS = 10_000;

/** Bytes that a failed conversion counts in the cache. */
const FAILURE_BYTES = 1_024;

/** How long a failed conversion is not tried again, in milliseconds. */
const FAILURE_MS = 5 * 60_000;

/** A resource that changed less than this many milliseconds ago may change again without a new time, since times are coarse. */
const SETTLED_MS = 2_000;

/** The hash of a content. */
export const contentOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');

export function createFormatStore(
  limits: AlternativesLimits,
  { program, answers }: FormatStoreContext = {},
): FormatStore {
  const pool = createPool({ ...limits, program });
  const versions = createLru<string, string>(MAX_VERSIONS);
  const formats = new LRUCache<string, Made>({
    max: MAX_FORMATS,
    maxSize: limits.cacheBytes,
    sizeCalculation: (made) => ('bytes' in made ? Math.max(1, made.bytes.byteLength) : FAILURE_BYTES),
  });
  /** Formats that are being made, by `keyOf`. */
  const making = new Map<string, Making>();
  /** Formats that are being made or wait for a turn, by `ownKeyOf`. */
  const requested = new Map<string, Making>();
  let conversions = 0;

  const keyOf = (content: string, from: string, { converter, mimeType }: Format): string =>
    `${content}\n${from}\n${converter.name}\n${mimeType}`;

  /** Everything that a format depends on, and nothing about the caller. */
  const sharedKey = (content: string, from: string, { converter, mimeType }: Format): AnswerKey => [
    'format',
    converterVersions(),
    ...[content, from, converter.name, mimeType],
    ...[limits.maxOutputBytes, limits.maxUnpackedBytes].map(String),
  ];

  /** Begins a format. Callers of the same format wait for turns of their own, and the first turn makes the format for all. */
  function begin(content: string, bytes: Uint8Array, from: string, format: Format, caller: string): Making {
    const key = keyOf(content, from, format);
    const ended = new AbortController();
    const { maxOutputBytes, maxUnpackedBytes } = limits;
    const conversion = { from, to: format.mimeType, maxOutputBytes, maxUnpackedBytes };
    const ownKey = ownKeyOf(key, caller);
    const instead = (): Promise<Uint8Array> | undefined => {
      const kept = formats.get(key);
      if (kept !== undefined) return (async () => given(kept))();
      const other = making.get(key);
      if (other !== undefined) return wait(other, ended.signal);
      making.set(key, entry);
      return undefined;
    };
    const around = (run: () => Promise<Uint8Array>): Promise<Uint8Array> => {
      const counted = (): Promise<Uint8Array> => {
        conversions++;
        return run();
      };
      return answers === undefined
        ? counted()
        : answers.make(sharedKey(content, from, format), maxOutputBytes, counted, ended.signal);
    };

    async function convert(): Promise<Uint8Array> {
      const wanting = { caller, signal: ended.signal, instead, around };
      try {
        const result = await pool.convert(format.converter.name, bytes, conversion, wanting);
        if (making.get(key) === entry) formats.set(key, { bytes: result });
        return result;
      } catch (error) {
        // A conversion that got no turn in time or no process, or was cancelled, proves nothing about the content.
        const isAboutContent =
          error instanceof ResourceError && error.code !== 'limited' && !isStartRefused(error.cause);
        if (isAboutContent && !ended.signal.aborted && making.get(key) === entry)
          formats.set(key, { error }, { ttl: FAILURE_MS });
        throw error;
      }
    }

    async function find(shared: SharedAnswers): Promise<Uint8Array> {
      const found = await shared.get(sharedKey(content, from, format), maxOutputBytes);
      if (found === undefined) return convert();
      formats.set(key, { bytes: found });
      return found;
    }

    const made = (answers === undefined ? convert() : find(answers)).finally(() => leave(entry));
    // Every request that waits gets the error. If none waits any more, nothing needs to handle it.
    made.catch(() => {});
    const entry: Making = { key, ownKey, format: made, ended, wanted: 0 };
    requested.set(ownKey, entry);
    return entry;
  }

  function leave(entry: Making): void {
    if (making.get(entry.key) === entry) making.delete(entry.key);
    if (requested.get(entry.ownKey) === entry) requested.delete(entry.ownKey);
  }

  async function wait(entry: Making, signal: AbortSignal): Promise<Uint8Array> {
    entry.wanted++;
    try {
      return await abortable(entry.format, signal);
    } finally {
      // If no request waits any more, the format is not made.
      if (--entry.wanted === 0 && requested.get(entry.ownKey) === entry) {
        leave(entry);
        entry.ended.abort(new Error('Nobody wants the format any more'));
      }
    }
  }

  return {
    versionOf(resource, ctx) {
      const key = versionKey(resource, ctx);
      return key === undefined ? undefined : versions.get(key);
    },
    learn(resource, content, ctx) {
      const key = versionKey(resource, ctx);
      if (key !== undefined) versions.set(key, content);
    },
    kept: (content, from, format) => formats.get(keyOf(content, from, format)),
    async make(content, bytes, from, format, { principal, signal }) {
      const key = keyOf(content, from, format);
      const kept = formats.get(key);
      if (kept !== undefined) return given(kept);
      signal.throwIfAborted();
      const { id } = principal;
      const entry = making.get(key) ?? requested.get(ownKeyOf(key, id)) ?? begin(content, bytes, from, format, id);
      return await wait(entry, signal);
    },
    conversions: () => conversions,
    async close() {
      await pool.close();
      versions.clear();
      formats.clear();
    },
  };
}

/** The bytes of a format. @throws ResourceError the error of its conversion */
export function given(made: Made): Uint8Array {
  if ('error' in made) throw made.error;
  return made.bytes;
}

/**
 * Returns a key for one version of a resource and one caller, since other callers may see another content under the same URI.
 * Undefined if the resource has no size or time, or has changed just now.
 */
function versionKey({ uri, size, mimeType, annotations }: Resource, { principal, peer }: Context): string | undefined {
  const lastModified = annotations?.lastModified;
  if (size === undefined || lastModified === undefined) return undefined;
  const at = Date.parse(lastModified);
  if (!(at < Date.now() - SETTLED_MS)) return undefined;
  return JSON.stringify([principal.id, peer, uri, size, lastModified, mimeType]);
}
