/** Gets a server's description of one resource: asks for it, finds it in the list, or reads the contents (2093-2, 2093-11). */
import { METADATA_METHOD } from '../protocol/methods.ts';
import type { Asking, CallOptions } from './asking.ts';
import { invalidAnswer, isUnsupported, ResourceClientError } from './errors.ts';
import type { Link } from './link.ts';
import { newReport, pagesOf } from './paging.ts';
import type { Reading } from './reading.ts';
import { identityOf, isListable, type ListedResource, resourceIn } from './shapes.ts';

/** A description of a resource, and its source. */
export interface ResourceMetadata {
  /** The description, with every field that the server sends. */
  readonly resource: ListedResource;
  /**
   * The source of the description: `resources/metadata`, the server's list, or the contents of the resource. Contents give only
   * their size and the fields beside them.
   */
  readonly source: 'metadata' | 'list' | 'read';
}

/** Gets and remembers descriptions of resources. */
export interface Described {
  metadata(uri: string, options: CallOptions): Promise<ResourceMetadata>;
  /** Remembers resources as the server just described them. */
  learn(resources: readonly ListedResource[]): void;
  /** Returns the facts about a resource that are remembered. */
  factsOf(uri: string): { readonly listable: boolean | undefined; readonly size: number | undefined };
  /** Forgets one resource, or all. */
  forget(uri?: string): void;
}

type Remembered = Map<string, { readonly resource: ListedResource; readonly until: number }>;

/** The most resources that are remembered. */
const MAX_REMEMBERED = 20_000;
/** The milliseconds for which a resource is remembered. */
const REMEMBERED_MS = 30_000;

/** The most UTF-16 units of a URI that is remembered. */
const MAX_REMEMBERED_URI = 2_048;

/** The most resources of the list that are searched for one URI. */
const MAX_SCANNED = 10_000;

/** Finds descriptions in the best way that the server offers. @param now the time in milliseconds */
export function createDescribed(asking: Asking, reading: Reading, now: () => number = Date.now): Described {
  const { connection, cache } = asking;
  // New resources go into `young`. When it is full it becomes `old`, and the former `old` is forgotten.
  let young: Remembered = new Map();
  let old: Remembered = new Map();
  /** The time until which the whole list is remembered, so that another scan would find nothing new. */
  let wholeUntil = 0;

  function learn(resources: readonly ListedResource[]): void {
    const until = now() + REMEMBERED_MS;
    for (const resource of resources) {
      if (resource.uri.length > MAX_REMEMBERED_URI) continue;
      if (young.size >= MAX_REMEMBERED / 2) {
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

  /** Reads the list once for all callers who search it at the same time. */
  function scan(options: CallOptions): Promise<void> {
    return cache.once('scan', options.signal, async (signal) => {
      const report = newReport();
      const pages = pagesOf(
        asking,
        { method: 'resources/list', uri: undefined },
        { ...options, signal, maxResources: MAX_SCANNED },
        report,
      );
      for await (const { resources } of pages) learn(resources);
      if (report.stopped === 'end') wholeUntil = now() + REMEMBERED_MS;
    });
  }

  /** Asks the server for metadata. Returns a refusal that may mean that the server lacks the method. Throws any other error. */
  async function askServer(
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

  async function searchList(uri: string, options: CallOptions): Promise<ResourceMetadata | undefined> {
    const remembered = options.fresh === true ? undefined : recall(uri);
    if (remembered !== undefined) return { resource: remembered, source: 'list' };
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
        const answer = await askServer(link, uri, options);
        if ('resource' in answer) {
          learn([answer.resource]);
          return { resource: answer.resource, source: 'metadata' };
        }
        refusal = answer.refusal;
      }
      const found =
        (await searchList(uri, options)) ??
        (await readOf(uri, options).catch((error: unknown) => {
          options.signal?.throwIfAborted();
          throw isUnsupported(error) ? (refusal ?? error) : error;
        }));
      // The resource exists, so the server must have refused the method.
      if (link.learned.metadata === undefined) link.learned.metadata = false;
      return found;
    },
    learn,
    factsOf(uri) {
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
 * Codes that some servers send for an unknown method instead of the standard one: they check a request against all requests
 * that they know, and refuse its parameters.
 */
const MAY_MEAN_NO_METHOD: ReadonlySet<string> = new Set(['not-found', 'invalid', 'failed']);

const unknown = () => ({ listable: undefined, size: undefined });

/** Returns the found URI if it means the same as the requested one, else the requested one: a server may send that of a child. */
const sameOr = (found: string, requested: string): string =>
  identityOf(found) === identityOf(requested) ? found : requested;
