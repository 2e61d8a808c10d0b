/** Gets a server's description of one resource: asks for it, finds it in the list, or reads the contents (2093-2, 2093-11). */
import { METADATA_METHOD } from '../protocol/methods.ts';
import type { Asking, CallOptions } from './asking.ts';
import { invalidAnswer, isUnsupported, ResourceClientError } from './errors.ts';
import type { Link } from './link.ts';
import { newReport, pagesOf } from './paging.ts';
import type { Reading } from './reading.ts';
import { identityOf, isListable, type ListedResource, resourceIn } from './shapes.ts';

export interface ResourceMetadata {
  /** With every field that the server sends. */
  readonly resource: ListedResource;
  /**
   * The source of the description: `resources/metadata`, the server's list, or its contents. Of contents, only
   * their size and the fields beside them are known.
   */
  readonly source: 'metadata' | 'list' | 'read';
}

export interface Described {
  metadata(uri: string, options: CallOptions): Promise<ResourceMetadata>;
  /** Remembers resources as the server just described them. */
  learn(resources: readonly ListedResource[]): void;
  known(uri: string): { readonly listable: boolean | undefined; readonly size: number | undefined };
  /** Of one resource, or of all. */
  forget(uri?: string): void;
}

type Remembered = Map<string, { readonly resource: ListedResource; readonly until: number }>;

/** The most resources that are remembered, and how long, in milliseconds. */
const MAX_KNOWN = 20_000;
const KNOWN_MS = 30_000;

/** URIs longer than this, in UTF-16 units, are not remembered. */
const MAX_KNOWN_URI = 2_048;

/** The most resources of the list that are gone through for one that is asked for by its URI. */
const MAX_LOOKED_AT = 10_000;

export function createDescribed(asking: Asking, reading: Reading, now: () => number = Date.now): Described {
  const { connection, cache } = asking;
  // The newest are in `young`; when it is full it becomes `old`, and what was in `old` is forgotten.
  let young: Remembered = new Map();
  let old: Remembered = new Map();
  let wholeUntil = 0;

  function learn(resources: readonly ListedResource[]): void {
    const until = now() + KNOWN_MS;
    for (const resource of resources) {
      if (resource.uri.length > MAX_KNOWN_URI) continue;
      if (young.size >= MAX_KNOWN / 2) {
        old = young;
        young = new Map();
      }
      young.set(identityOf(resource.uri), { resource, until });
    }
  }

  function recall(uri: string): ListedResource | undefined {
    const identity = identityOf(uri);
    const found = young.get(identity) ?? old.get(identity);
    return found !== undefined && found.until > now() ? found.resource : undefined;
  }

  /** Goes through the list once for all who look for something in it. */
  function scan(options: CallOptions): Promise<void> {
    return cache.once('scan', options.signal, async (signal) => {
      const report = newReport();
      const pages = pagesOf(
        asking,
        { method: 'resources/list', uri: undefined },
        { ...options, signal, maxResources: MAX_LOOKED_AT },
        report,
      );
      for await (const { resources } of pages) learn(resources);
      if (report.stopped === 'end') wholeUntil = now() + KNOWN_MS;
    });
  }

  /** Asks the server. Returns its refusal where it does not have the method, or may not have it; throws any other. */
  async function asked(
    link: Link,
    uri: string,
    options: CallOptions,
  ): Promise<{ readonly resource: ListedResource } | { readonly refusal: unknown }> {
    try {
      const { value } = await asking.ask({ method: METADATA_METHOD, uri, part: '' }, { uri }, options);
      const resource = resourceIn(value.resource, uri);
      if (resource === undefined) throw invalidAnswer('The answer of the server is no metadata', uri);
      link.learned.metadata = true;
      return { resource };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isUnsupported(error)) link.learned.metadata = false;
      else if (link.learned.metadata === true || !MAY_MEAN_NO_METHOD.has((error as ResourceClientError).code))
        throw error;
      return { refusal: error };
    }
  }

  async function looked(uri: string, options: CallOptions): Promise<ResourceMetadata | undefined> {
    const said = options.fresh === true ? undefined : recall(uri);
    if (said !== undefined) return { resource: said, source: 'list' };
    if (options.fresh !== true && now() < wholeUntil) return undefined;
    await scan(options);
    const found = recall(uri);
    return found === undefined ? undefined : { resource: found, source: 'list' };
  }

  async function readOf(uri: string, options: CallOptions): Promise<ResourceMetadata> {
    const { primary, listable } = await reading.read(uri, { ...options, maxBytes: Number.MAX_SAFE_INTEGER }, unknown);
    if (primary === undefined && listable !== true) {
      throw new ResourceClientError('not-found', 'Resource not found', { uri });
    }
    const resource = primary === undefined ? resourceIn({ uri }, uri) : primary.resource;
    if (resource === undefined) throw invalidAnswer('The answer of the server is no resource', uri);
    const size = resource.size ?? primary?.byteLength;
    return {
      resource: { ...resource, uri: sameOr(resource.uri, uri), ...(size !== undefined && { size }) } as ListedResource,
      source: 'read',
    };
  }

  return {
    async metadata(uri, options) {
      const link = await connection.get(options.signal);
      let refusal: unknown;
      if (link.learned.metadata !== false) {
        const answer = await asked(link, uri, options);
        if ('resource' in answer) {
          learn([answer.resource]);
          return { resource: answer.resource, source: 'metadata' };
        }
        refusal = answer.refusal;
      }
      const found =
        (await looked(uri, options)) ??
        (await readOf(uri, options).catch((error: unknown) => {
          options.signal?.throwIfAborted();
          throw isUnsupported(error) ? (refusal ?? error) : error;
        }));
      // There is such a resource, so it is the method that the server refused.
      if (link.learned.metadata === undefined) link.learned.metadata = false;
      return found;
    },
    learn,
    known(uri) {
      const resource = recall(uri);
      return { listable: resource === undefined ? undefined : isListable(resource), size: resource?.size };
    },
    forget(uri) {
      wholeUntil = 0;
      if (uri === undefined) {
        young.clear();
        old.clear();
        return;
      }
      young.delete(identityOf(uri));
      old.delete(identityOf(uri));
    },
  };
}

/**
 * Codes that servers give for a method that they do not know, beside the one that is for it: some check requests against
 * all that they know, and refuse the parameters.
 */
const MAY_MEAN_NO_METHOD: ReadonlySet<string> = new Set(['not-found', 'invalid', 'failed']);

const unknown = () => ({ listable: undefined, size: undefined });

/** A server may send the first of several resources: that one is what was asked about. */
const sameOr = (found: string, asked: string): string => (identityOf(found) === identityOf(asked) ? found : asked);
