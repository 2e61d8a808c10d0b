/** Finds the resources of the mount: in the configuration, in documents of APIs, and in feeds. No other URL is read. */

import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { basename, resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Context, Log } from '../../core/context.ts';
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
import { readUpTo } from '../../core/read-up-to.ts';
import { encodingOfMark } from '../../core/text/byte-order-mark.ts';
import { schemeOf, splitUri } from '../../core/uri.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { Answers } from './answers.ts';
import { type ApiResources, MAX_DOCUMENT_BYTES, resourcesOf } from './api.ts';
import { openDocuments } from './documents.ts';
import { documentUrl, type Entry } from './entries.ts';
import { type FeedTarget, feedTargets, MAX_FEED_BYTES } from './feeds.ts';
import { isFeed, type Target } from './target.ts';
import { matchTemplate, type WebTemplate } from './templates.ts';

type Asking = Pick<Context, 'signal' | 'notes'>;

export interface Catalogue {
  /** Returns the resources in the order of the configuration. If the document of an API cannot be loaded, notes it as missing. */
  targets(ctx: Asking): Promise<readonly Target[]>;
  /** Returns the templates, likewise. */
  templates(ctx: Asking): Promise<readonly WebTemplate[]>;
  /** Returns the entries of a feed. @param ask requests the feed even while the latest answer is fresh @throws ResourceError */
  children(feed: Target, ctx: Asking, ask?: boolean): Promise<readonly FeedTarget[]>;
  /**
   * Returns the resource with a URI.
   * @throws ResourceError `not-found`, `invalid`, or the error of a document or a feed that may have the resource
   */
  find(uri: string, ctx: Asking, ask?: boolean): Promise<Target>;
  /** Returns the feeds that may have, or get, an entry with this URI. */
  feedsFor(uri: string, ctx: Asking): Promise<readonly Target[]>;
  close(): Promise<void>;
}

export interface CatalogueOptions {
  readonly name: string;
  readonly entries: readonly Entry[];
  readonly answers: Answers;
  readonly base: string;
  readonly log: Log | undefined;
}

/** How long a document is not fetched again after a failed attempt, in milliseconds. */
const AGAIN_MS = 5_000;

/** The same if the document was too large or took too long to read: reading it is expensive, and would fail again. */
const UNREADABLE_MS = 60_000;

/** The most feeds whose entries are kept. */
const MAX_FEEDS = 64;

/** The most bytes of the entries that are kept. */
const MAX_FEEDS_BYTES = 32 * 1024 * 1024;

/** Bytes that an entry takes beside its content. */
const ENTRY_BYTES = 1_024;

/** The most HEAD requests that find out whether a resource is a feed, in one search for an entry. */
const MAX_HEAD_REQUESTS = 16;

type Api = Extract<Entry, { kind: 'api' }>;

/** @throws ResourceError `invalid` for a file that cannot be read, or is not a document of an API */
export async function createCatalogue(options: CatalogueOptions): Promise<Catalogue> {
  const { name, entries, answers, base, log } = options;
  const apis = new Map<Api, ApiResources>();
  const failures = new Map<Api, { readonly error: unknown; readonly until: number }>();
  const loading = new Map<Api, Promise<ApiResources>>();
  const feeds = new LRUCache<string, Promise<readonly FeedTarget[]>>({
    max: MAX_FEEDS,
    maxSize: MAX_FEEDS_BYTES,
    sizeCalculation: () => 1,
  });
  const documents = openDocuments();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);

  try {
    for (const entry of entries) {
      if (entry.kind !== 'api' || documentUrl(entry.document) !== undefined) continue;
      apis.set(entry, await apiOf(entry, await fileOf(entry.document, base)));
    }
  } catch (error) {
    await documents.close();
    throw error;
  }

  async function apiOf(entry: Api, bytes: Uint8Array): Promise<ApiResources> {
    const from = documentUrl(entry.document)?.href;
    const what = from === undefined ? basename(entry.document) : 'The document';
    const source = { what, from, server: entry.server?.href };
    return await resourcesOf(await documents.api(bytes, source), { ...source, access: entry.access, log });
  }

  /** Returns the resources of an API. Simultaneous callers share one request, which goes on even if a caller leaves. */
  async function load(entry: Api, ctx: Asking): Promise<ApiResources> {
    const loadedBefore = apis.get(entry);
    if (loadedBefore !== undefined) return loadedBefore;
    const failed = failures.get(entry);
    if (failed !== undefined && failed.until > Date.now()) throw failed.error;
    let running = loading.get(entry);
    if (running === undefined) {
      running = fetched(entry).finally(() => loading.delete(entry));
      loading.set(entry, running);
    }
    return await abortable(running, ctx.signal);
  }

  async function fetched(entry: Api): Promise<ApiResources> {
    const url = documentUrl(entry.document) as URL;
    // The credentials are for the configured server. Its document may lie at another origin, which must not get them.
    const sameOrigin = entry.server === undefined || entry.server.origin === url.origin;
    const access = sameOrigin ? entry.access : { headers: {}, query: {} };
    const document: Target = { uri: url.href, url, access, description: {}, head: false, feed: false };
    try {
      const { bytes } = await answers.whole(document, MAX_DOCUMENT_BYTES, closing);
      const loaded = await apiOf(entry, bytes);
      apis.set(entry, loaded);
      return loaded;
    } catch (error) {
      closing.signal.throwIfAborted();
      const broken = error instanceof ResourceError && (error.code === 'invalid' || error.code === 'not-found');
      const shown = broken
        ? new ResourceError('unavailable', 'The API has no document that can be read', { cause: error })
        : error;
      const expensive = error instanceof ResourceError && (error.code === 'timeout' || error.code === 'too-large');
      failures.set(entry, { error: shown, until: Date.now() + (expensive ? UNREADABLE_MS : AGAIN_MS) });
      log?.warn('the document of an API cannot be loaded', { mount: name, error });
      throw shown;
    }
  }

  async function* loaded(
    ctx: Asking,
    failed: (error: unknown) => void,
  ): AsyncIterable<Exclude<Entry, Api> | ApiResources> {
    for (const entry of entries) {
      if (entry.kind !== 'api') {
        yield entry;
        continue;
      }
      try {
        yield await load(entry, ctx);
      } catch (error) {
        ctx.signal.throwIfAborted();
        failed(error);
      }
    }
  }

  const missing =
    (ctx: Asking): ((error: unknown) => void) =>
    () =>
      ctx.notes?.missing({ mount: name, reason: 'The document of an API cannot be loaded now' });

  const allLoaded = (): boolean => entries.every((entry) => entry.kind !== 'api' || apis.has(entry));
  /** The targets and templates, kept once all documents are loaded. */
  let targetsOnce: ReadonlyMap<string, Target> | undefined;
  let templatesOnce: readonly WebTemplate[] | undefined;

  async function targetsByUri(ctx: Asking, failed: (error: unknown) => void): Promise<ReadonlyMap<string, Target>> {
    if (targetsOnce !== undefined) return targetsOnce;
    const found = new Map<string, Target>();
    for await (const part of loaded(ctx, failed)) {
      const inPart = 'targets' in part ? part.targets : part.kind === 'resource' ? [part.target] : [];
      for (const target of inPart) if (!found.has(target.uri)) found.set(target.uri, target);
    }
    if (allLoaded()) targetsOnce = found;
    return found;
  }

  const targets = async (ctx: Asking, failed = missing(ctx)): Promise<readonly Target[]> => [
    ...(await targetsByUri(ctx, failed)).values(),
  ];

  async function templates(
    ctx: Asking,
    failed: (error: unknown) => void = missing(ctx),
  ): Promise<readonly WebTemplate[]> {
    if (templatesOnce !== undefined) return templatesOnce;
    const found = new Map<string, WebTemplate>();
    for await (const part of loaded(ctx, failed)) {
      const inPart = 'targets' in part ? part.templates : part.kind === 'template' ? [part.template] : [];
      for (const template of inPart) if (!found.has(template.text)) found.set(template.text, template);
    }
    if (allLoaded()) templatesOnce = [...found.values()];
    return [...found.values()];
  }

  async function children(feed: Target, ctx: Asking, ask = false): Promise<readonly FeedTarget[]> {
    const { bytes, facts } = await answers.whole(feed, MAX_FEED_BYTES, ctx, ask);
    const charset = encodingOfMark(bytes) ?? facts.charset;
    const key = createHash('sha256').update(`${feed.uri}\0${charset}\0`).update(bytes).digest('base64');
    const readBefore = feeds.get(key);
    if (readBefore !== undefined) return await abortable(readBefore, ctx.signal);
    const source = { uri: feed.uri, url: feed.url.href, charset };
    const reading = documents.feed(bytes, source).then((read) => feedTargets(feed, read));
    feeds.set(key, reading);
    reading.then(
      (read) => feeds.set(key, reading, { size: sizeOf(read) }),
      (error: unknown) => {
        // The same content would fail again, so the failure is kept, unless it came from a limit or the end of the server.
        const lasting = error instanceof ResourceError && error.code !== 'limited' && !closing.signal.aborted;
        if (!lasting) feeds.delete(key);
      },
    );
    return await abortable(reading, ctx.signal);
  }

  async function feedsFor(
    uri: string,
    ctx: Asking,
    failed: (error: unknown) => void = () => {},
  ): Promise<readonly Target[]> {
    const near = (await targets(ctx, () => {})).filter(
      (target) =>
        target.feed !== false && (uri.startsWith(`${target.url.origin}/`) || uri.startsWith(`${target.uri}#`)),
    );
    let requests = 0;
    const found: Target[] = [];
    const withoutFacts = (error: unknown): undefined => {
      ctx.signal.throwIfAborted();
      // A resource that is missing has no entries. Any other failure leaves open whether the resource is a feed.
      if (!(error instanceof ResourceError) || error.code !== 'not-found') failed(error);
    };
    for (const target of near) {
      const known = answers.known(target.uri);
      const ask = known === undefined && target.feed === undefined && target.head && ++requests <= MAX_HEAD_REQUESTS;
      const facts = ask ? await answers.facts(target, ctx).catch(withoutFacts) : known;
      if (isFeed(target, facts)) found.push(target);
    }
    return found;
  }

  return {
    targets,
    templates,
    children,
    feedsFor,

    async close() {
      closing.abort(new ResourceError('unavailable', 'The server is stopping'));
      await documents.close();
    },

    async find(uri, ctx, ask = false) {
      const { scheme, fragment } = splitUri(uri);
      if (scheme !== 'https' && scheme !== 'http') throw invalid('A URI here starts with https:// or http://', uri);
      let failure: unknown;
      const failed = (error: unknown): void => {
        failure ??= error;
      };
      const wanted = canonical(uri);
      const known = (await targetsByUri(ctx, failed)).get(wanted);
      if (known !== undefined) return known;
      if (fragment === undefined) {
        for (const template of await templates(ctx, failed)) {
          const target = matchTemplate(template, uri);
          if (target !== undefined) return target;
        }
      }
      for (const feed of await feedsFor(wanted, ctx, failed)) {
        const inFeed = await children(feed, ctx, ask).catch((error: unknown) => {
          ctx.signal.throwIfAborted();
          failed(error);
          return [];
        });
        const found = inFeed.find((target) => target.uri === wanted);
        if (found !== undefined) return found;
      }
      throw failure === undefined ? notFound(uri) : withUri(failure, uri);
    },
  };
}

/** Adds the slash to a URI that has only a host. No other spelling is changed, so only canonical URIs name resources. */
function canonical(uri: string): string {
  const bare = /^(https?:\/\/[^/?#]+)$/.exec(uri);
  return bare === null ? uri : `${uri}/`;
}

const withUri = (error: unknown, uri: string): unknown => (error instanceof ResourceError ? error.withUri(uri) : error);

const sizeOf = (targets: readonly FeedTarget[]): number =>
  targets.reduce((sum, { inline }) => sum + ENTRY_BYTES + (inline?.bytes.byteLength ?? 0), 1);

async function fileOf(path: string, base: string): Promise<Uint8Array> {
  if (schemeOf(path) !== undefined && /^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw invalid('openapi is a file or an http: or https: URL');
  const bytes = await readUpTo(resolve(base, path), MAX_DOCUMENT_BYTES).catch((cause: unknown) => {
    throw new ResourceError('invalid', `openapi: ${basename(path)} cannot be read`, { cause });
  });
  if (bytes === undefined) throw invalid(`openapi: ${basename(path)} has more than ${MAX_DOCUMENT_BYTES} bytes`);
  return bytes;
}
