/** The client for the resources of one MCP server of either era. */
import type { Client } from '@modelcontextprotocol/client';
import { type CallOptions, createAsking, setAsking } from './asking.ts';
import { createCache } from './cache.ts';
import { type CacheStore, memoryStore } from './cache-store.ts';
import { createChildren } from './children.ts';
import { type Connect, createConnection, type ReconnectOptions } from './connection.ts';
import { createDescribed, type ResourceMetadata } from './described.ts';
import type { LinkBlock } from './embedded.ts';
import { ResourceClientError } from './errors.ts';
import type { Watch } from './events.ts';
import { type HttpTarget, httpConnect } from './http.ts';
import type { Data, ServerFacts } from './link.ts';
import type { ReadResult } from './outcome.ts';
import {
  type ListedTemplate,
  type ListOptions,
  type ListPage,
  type ListReport,
  newReport,
  type OpenReport,
  oneByOne,
  pagesOf,
  templatesIn,
} from './paging.ts';
import { createReading, type ReadOptions } from './reading.ts';
import type { ListedResource } from './shapes.ts';
import { checkedClient } from './source.ts';
import { checkedTimes, timerMs } from './time-limit.ts';
import { uniqueName } from './unique.ts';
import { createWalk, type Walk, type WalkOptions } from './walk.ts';
import { createWatching } from './watching.ts';

/** How answers are cached. */
export interface CacheSettings {
  /** The store that keeps answers. Default: a new memory store of 64 MiB. `false` turns the cache off. */
  readonly store?: CacheStore | false | undefined;
  /**
   * Names the server in a store that other clients use, too. Default: the URL, or a unique name for a server without a URL, so
   * that nothing is shared.
   */
  readonly server?: string | undefined;
  /**
   * Names the user. Only clients with the same name share answers that the server marks as `private`. Default: a unique name,
   * so that nothing is shared.
   */
  readonly partition?: string | undefined;
  /** Milliseconds for which an answer without `ttlMs` is fresh; servers of the 2025 era never send it. Default 0. */
  readonly defaultTtlMs?: number | undefined;
}

/** The limits, cache and reconnection of a client. */
export interface ResourceClientOptions {
  /** Milliseconds for one request, above 0; at most 2,147,483,647, also for `Infinity`. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The most bytes of the contents of one read, before base64. Default 16 MiB. */
  readonly maxBytes?: number | undefined;
  readonly cache?: CacheSettings | undefined;
  /** How a lost connection is made again. Does not apply to a connected client of the SDK that the caller passes. */
  readonly reconnect?: ReconnectOptions | undefined;
}

/** A list of resources. Each page is requested only when its resources are needed. It can be iterated once. */
export interface Listing extends AsyncIterable<ListedResource> {
  /** Gives the same list page by page, with each answer as the server sent it. */
  pages(): AsyncIterable<ListPage>;
  /** The report so far: how the list was obtained, and why it ended. */
  readonly report: ListReport;
}

/** A list of URI templates, requested page by page. It can be iterated once. */
export interface TemplateListing extends AsyncIterable<ListedTemplate> {
  readonly report: ListReport;
}

/** The contents that a link leads to, with the link. */
export interface ResolvedLink extends ReadResult {
  readonly link: LinkBlock;
}

/** A client for the resources of one server. All methods throw a `ResourceClientError`, or the reason of an aborted signal. */
export interface ResourceClient extends AsyncDisposable {
  /** Returns the name, the capabilities and other facts that the server declares. Connects first if there is no connection. */
  connect(signal?: AbortSignal): Promise<ServerFacts>;
  /** Returns the SDK's client, for tools and prompts. After the connection was lost, it returns a new one. */
  client(signal?: AbortSignal): Promise<Client>;
  /**
   * Lists the children of a resource, or gives the server's default list. If a server has no lists by URI (2093-4), the client
   * finds the children in another way, which `report.via` names.
   * @throws `not-found`, `not-listable`
   */
  list(uri?: string, options?: ListOptions): Listing;
  /** Walks through everything below a resource, or through all resources of the server, level by level (2093-10). */
  walk(uri?: string, options?: WalkOptions): Walk;
  /** Lists URI templates (RFC 6570). A server without resources has none. */
  templates(options?: ListOptions): TemplateListing;
  /** Returns a server's description of a resource, without reading it where possible (2093-2, 2093-11). @throws `not-found` */
  metadata(uri: string, options?: CallOptions): Promise<ResourceMetadata>;
  /** Reads a resource. @throws `not-found`, `too-large`, `not-acceptable`, `invalid` for a range past the end, `invalid-answer` */
  read(uri: string, options?: ReadOptions): Promise<ReadResult>;
  /**
   * Reads the resource that a `resource_link` names. The result has the `link` as well, with its own name and annotations. Even
   * an `https:` URI is read from the server: the client fetches nothing itself.
   */
  resolveLink(link: LinkBlock, options?: ReadOptions): Promise<ResolvedLink>;
  /** Watches a resource and everything below it (RES-4). @throws `unsupported` from the iteration and from `ready` */
  watch(uri: string, options?: { readonly signal?: AbortSignal | undefined }): Watch;
  /** Watches the list of resources. @throws `unsupported` from the iteration and from `ready` */
  watchList(options?: { readonly signal?: AbortSignal | undefined }): Watch;
  /** Forgets all cached answers of this server. */
  forget(): Promise<void>;
  /** Ends all watches, and the connection, unless the caller passed a connected client of the SDK. */
  close(): Promise<void>;
}

/** A connected client of the SDK (v2), which its owner has to close; a URL; or a function that connects a client. */
export type ResourceClientSource = Client | HttpTarget | Connect;

/** The default milliseconds for one request. */
export const DEFAULT_TIMEOUT_MS = 60_000;
/** The default most bytes of the contents of one read, before base64. */
export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Creates a client for the resources of one server. It connects when it is first needed.
 * @throws ResourceClientError `invalid` for a source that is none of the accepted ones, such as a client of SDK v1; for a URL
 *   that is not of HTTP; for a `timeoutMs` that is not above 0
 *
 * @example
 * await using resources = createResourceClient({ url: 'http://127.0.0.1:8931/mcp' });
 * for await (const { resource, depth } of resources.walk()) console.log(depth, resource.uri);
 */
export function createResourceClient(
  source: ResourceClientSource,
  options: ResourceClientOptions = {},
): ResourceClient {
  const { maxBytes = DEFAULT_MAX_BYTES, reconnect } = options;
  const timeoutMs = timerMs(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 'timeoutMs');
  const { store, server, partition, defaultTtlMs = 0 } = options.cache ?? {};
  const byUrl = isTarget(source);
  const cache = createCache({
    server: server ?? (byUrl ? String(source.url) : uniqueName()),
    partition: partition ?? uniqueName(),
    store: store === false ? undefined : (store ?? memoryStore()),
    defaultTtlMs,
  });
  const connection = createConnection(
    byUrl ? httpConnect(source) : typeof source === 'function' ? source : checkedClient(source),
    {
      notified,
      missed: () => watching.missed(),
      up(link, again) {
        if (again) forgetDescriptions();
        watching.up(link, again);
      },
      down: (final) => watching.down(final),
    },
    reconnect,
  );
  const asking = createAsking(connection, cache, timeoutMs);
  const reading = createReading(asking, maxBytes);
  const children = createChildren(asking, reading);
  const described = createDescribed(asking, reading);
  const watching = createWatching(connection, timeoutMs, (uris) => {
    forgetDescriptions();
    for (const uri of uris) cache.changed(uri);
  });

  function notified(method: string, params: Data): void {
    if (method === 'notifications/resources/updated' && typeof params.uri === 'string') {
      cache.changed(params.uri);
      described.forget(params.uri);
    }
    if (method === 'notifications/resources/list_changed') forgetDescriptions();
    watching.notified(method, params);
  }

  /** Forgets lists and metadata. Contents stay until their own time is over, or the server reports their change. */
  function forgetDescriptions(): void {
    cache.listChanged();
    described.forget();
  }

  async function* learning(
    pages: AsyncGenerator<ListPage, void, undefined>,
  ): AsyncGenerator<ListPage, void, undefined> {
    for await (const page of pages) {
      described.learn(page.resources);
      yield page;
    }
  }

  async function* defaultList(lists: ListOptions, report: OpenReport): AsyncGenerator<ListPage, void, undefined> {
    report.via = 'default-list';
    const { facts } = await connection.get(lists.signal);
    // A server that does not declare resources has an empty list; a request would be an error.
    if (!facts.resources) {
      report.stopped = 'end';
      return;
    }
    yield* learning(pagesOf(asking, { method: 'resources/list', uri: undefined }, lists, report));
  }

  async function* templates(lists: ListOptions, report: OpenReport): AsyncGenerator<ListedTemplate, void, undefined> {
    const { facts } = await connection.get(lists.signal);
    if (facts.resources) return yield* templatesIn(asking, lists, report);
    report.stopped = 'end';
  }

  const pagesFor = (uri: string | undefined, lists: ListOptions, report: OpenReport) =>
    uri === undefined ? defaultList(lists, report) : learning(children.pages(checked(uri), lists, report));

  const read = (uri: string, want: ReadOptions = {}): Promise<ReadResult> =>
    reading.read(checked(uri), checkedTimes(want), described.factsOf);

  const client: ResourceClient = {
    connect: async (signal) => (await connection.get(signal)).facts,
    client: async (signal) => (await connection.get(signal)).client,
    list(uri, lists = {}) {
      const report = newReport();
      const pages = pagesFor(uri, checkedTimes(lists), report);
      const resources = oneByOne(resourcesOf(pages));
      return { [Symbol.asyncIterator]: () => resources, pages: () => pages, report };
    },
    walk: (uri, walks = {}) =>
      createWalk(
        {
          children: { pages: (of, lists, report) => learning(children.pages(checked(of), lists, report)) },
          defaultList,
        },
        uri,
        checkedTimes(walks),
      ),
    templates(lists = {}) {
      const report = newReport();
      const found = templates(checkedTimes(lists), report);
      return { [Symbol.asyncIterator]: () => found, report };
    },
    metadata: async (uri, call = {}) => described.metadata(checked(uri), checkedTimes(call)),
    read: async (uri, want) => read(uri, want),
    resolveLink: async (link, want) => ({ ...(await read(link.uri, want)), link }),
    watch: (uri, { signal } = {}) => watching.watch(checked(uri), signal),
    watchList: ({ signal } = {}) => watching.watch(undefined, signal),
    async forget() {
      described.forget();
      await cache.clear();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  setAsking(client, asking);
  return client;

  async function close(): Promise<void> {
    await watching.close();
    await connection.close();
  }
}

async function* resourcesOf(
  pages: AsyncIterable<ListPage>,
): AsyncGenerator<readonly ListedResource[], void, undefined> {
  for await (const { resources } of pages) yield resources;
}

const isTarget = (source: ResourceClientSource): source is HttpTarget =>
  typeof source === 'object' && source !== null && 'url' in source;

/** @throws ResourceClientError `invalid` for a URI that is empty or too long */
function checked(uri: string): string {
  if (typeof uri === 'string' && uri !== '' && uri.length <= MAX_URI) return uri;
  throw new ResourceClientError('invalid', `A URI has from 1 to ${MAX_URI} characters`);
}

/** The most UTF-16 units of a URI in a request. */
const MAX_URI = 65_536;
