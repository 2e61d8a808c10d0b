/** All that can be read: what is configured, what a document of an API has, and what is in a feed. Nothing else. */

import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Context, Log } from '../../core/context.ts';
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
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
  /** In the order of the configuration. A document that cannot be had is noted as missing. */
  targets(ctx: Asking): Promise<readonly Target[]>;
  templates(ctx: Asking): Promise<readonly WebTemplate[]>;
  /** @param ask also while the latest answer is fresh @throws ResourceError */
  children(feed: Target, ctx: Asking, ask?: boolean): Promise<readonly FeedTarget[]>;
  /** @throws ResourceError `not-found`, `invalid`, and why a document or a feed that may have it cannot be had */
  find(uri: string, ctx: Asking, ask?: boolean): Promise<Target>;
  /** Feeds that may get an entry with this URI. */
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

/** How long a document that could not be fetched is not fetched again, in milliseconds. */
const AGAIN_MS = 5_000;

/** How long a document that could not be read is not read again, in milliseconds: it costs time, and fails again. */
const UNREADABLE_MS = 60_000;

/** Feeds whose entries are remembered, and bytes of those. */
const MAX_FEEDS = 64;
const MAX_FEEDS_BYTES = 32 * 1024 * 1024;

/** Bytes that an entry takes beside its content. */
const ENTRY_BYTES = 1_024;

/** The most resources that are asked whether they are feeds, to find an entry of one. */
const MAX_ASKED = 16;

type Api = Extract<Entry, { kind: 'api' }>;

/** @throws ResourceError `invalid` for a document in a file that is none */
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

  /** Who asks at the same time waits for the same document, and goes away without it. */
  async function load(entry: Api, ctx: Asking): Promise<ApiResources> {
    const known = apis.get(entry);
    if (known !== undefined) return known;
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
    // Credentials are of the server, where one is configured.
    const own = entry.server === undefined || entry.server.origin === url.origin;
    const access = own ? entry.access : { headers: {}, query: {} };
    const document: Target = { uri: url.href, url, access, said: {}, head: false, feed: false };
    try {
      const { bytes } = await answers.whole(document, MAX_DOCUMENT_BYTES, closing);
      const loaded = await apiOf(entry, bytes);
      apis.set(entry, loaded);
      return loaded;
    } catch (error) {
      closing.signal.throwIfAborted();
      const broken = error instanceof ResourceError && (error.code === 'invalid' || error.code === 'not-found');
      const said = broken
        ? new ResourceError('unavailable', 'The API has no document that can be read', { cause: error })
        : error;
      const dear = error instanceof ResourceError && (error.code === 'timeout' || error.code === 'too-large');
      failures.set(entry, { error: said, until: Date.now() + (dear ? UNREADABLE_MS : AGAIN_MS) });
      log?.warn('the document of an API cannot be had', { mount: name, error });
      throw said;
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
      ctx.notes?.missing({ mount: name, reason: 'The document of an API cannot be had now' });

  const allLoaded = (): boolean => entries.every((entry) => entry.kind !== 'api' || apis.has(entry));
  let targetsOnce: ReadonlyMap<string, Target> | undefined;
  let templatesOnce: readonly WebTemplate[] | undefined;

  async function targetsByUri(ctx: Asking, failed: (error: unknown) => void): Promise<ReadonlyMap<string, Target>> {
    if (targetsOnce !== undefined) return targetsOnce;
    const found = new Map<string, Target>();
    for await (const each of loaded(ctx, failed)) {
      const own = 'targets' in each ? each.targets : each.kind === 'resource' ? [each.target] : [];
      for (const target of own) if (!found.has(target.uri)) found.set(target.uri, target);
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
    for await (const each of loaded(ctx, failed)) {
      const own = 'targets' in each ? each.templates : each.kind === 'template' ? [each.template] : [];
      for (const template of own) if (!found.has(template.text)) found.set(template.text, template);
    }
    if (allLoaded()) templatesOnce = [...found.values()];
    return [...found.values()];
  }

  async function children(feed: Target, ctx: Asking, ask = false): Promise<readonly FeedTarget[]> {
    const { bytes, facts } = await answers.whole(feed, MAX_FEED_BYTES, ctx, ask);
    const key = createHash('sha256').update(feed.uri).update('\0').update(bytes).digest('base64');
    const known = feeds.get(key);
    if (known !== undefined) return await abortable(known, ctx.signal);
    const source = { uri: feed.uri, url: feed.url.href, mimeType: facts.mimeType };
    const reading = documents.feed(bytes, source).then((read) => feedTargets(feed, read));
    feeds.set(key, reading);
    reading.then(
      (read) => feeds.set(key, reading, { size: sizeOf(read) }),
      (error: unknown) => {
        // Content that is no feed, or cannot be read, is not read again while it is the same.
        const lasting = error instanceof ResourceError && error.code !== 'limited' && !closing.signal.aborted;
        if (!lasting) feeds.delete(key);
      },
    );
    return await abortable(reading, ctx.signal);
  }

  async function feedsFor(uri: string, ctx: Asking): Promise<readonly Target[]> {
    const near = (await targets(ctx, () => {})).filter(
      (target) =>
        target.feed !== false && (uri.startsWith(`${target.url.origin}/`) || uri.startsWith(`${target.uri}#`)),
    );
    let asked = 0;
    const found: Target[] = [];
    for (const target of near) {
      const known = answers.known(target.uri);
      const ask = known === undefined && target.feed === undefined && target.head && ++asked <= MAX_ASKED;
      const facts = ask ? await answers.facts(target, ctx).catch(() => undefined) : known;
      ctx.signal.throwIfAborted();
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
      const own = (await targetsByUri(ctx, failed)).get(wanted);
      if (own !== undefined) return own;
      if (fragment === undefined) {
        for (const template of await templates(ctx, failed)) {
          const target = matchTemplate(template, uri);
          if (target !== undefined) return target;
        }
      }
      for (const feed of await feedsFor(wanted, ctx)) {
        const entry = await children(feed, ctx, ask).catch((error: unknown) => {
          ctx.signal.throwIfAborted();
          failed(error);
          return [];
        });
        const found = entry.find((target) => target.uri === wanted);
        if (found !== undefined) return found;
      }
      throw failure === undefined ? notFound(uri) : of(failure, uri);
    },
  };
}

/** A host alone is its root. Any other spelling than the canonical one names nothing. */
function canonical(uri: string): string {
  const bare = /^(https?:\/\/[^/?#]+)$/.exec(uri);
  return bare === null ? uri : `${uri}/`;
}

const of = (error: unknown, uri: string): unknown => (error instanceof ResourceError ? error.withUri(uri) : error);

const sizeOf = (targets: readonly FeedTarget[]): number =>
  targets.reduce((sum, { inline }) => sum + ENTRY_BYTES + (inline?.bytes.byteLength ?? 0), 1);

async function fileOf(path: string, base: string): Promise<Uint8Array> {
  if (schemeOf(path) !== undefined && /^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw invalid('openapi is a file or an http: or https: URL');
  try {
    return await readFile(resolve(base, path));
  } catch (cause) {
    throw new ResourceError('invalid', `openapi: ${basename(path)} cannot be read`, { cause });
  }
}
