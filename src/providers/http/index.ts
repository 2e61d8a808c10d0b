/**
 * Serves web pages, feeds and API responses as resources. Only URLs that the configuration names can be read; private
 * addresses only where the configuration allows them (`docs/providers/http.md`).
 *
 * @example
 * const provider = await httpProvider({ http: ['https://example.com/data.json'], pollSeconds: 300 });
 */
import type { Context } from '../../core/context.ts';
import { invalid, notListable } from '../../core/errors.ts';
import type { Page, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { createAddressPolicy } from './addresses.ts';
import { createAnswers } from './answers.ts';
import { createCatalogue } from './catalogue.ts';
import { completeVariable, templatePage } from './completion.ts';
import { type HttpOptions, limitsOf } from './config.ts';
import { createAgent } from './connections.ts';
import { configuredUrls, entriesOfConfig } from './entries.ts';
import type { Facts } from './facts.ts';
import { type FeedTarget, inOrder } from './feeds.ts';
import { readWeb } from './read.ts';
import { createSend } from './send.ts';
import { isFeed, resourceOf, type Target } from './target.ts';
import { createWatching } from './watch.ts';

export type { HttpConfig, HttpEntry, HttpOptions } from './config.ts';
export type { Resolve } from './resolve.ts';

/** The most concurrent HEAD requests of one list. */
const HEADS_AT_A_TIME = 6;

/** How long a list waits for the responses to its HEAD requests, in milliseconds. */
const LIST_HEAD_MS = 5_000;

/** @throws ResourceError `invalid` for an unusable configuration, or for the document of an API in an unusable file */
export async function httpProvider(options: HttpOptions): Promise<ResourceProvider> {
  const { name = 'http', log } = options;
  const limits = limitsOf(options);
  const entries = entriesOfConfig(options);
  const policy = createAddressPolicy({ allowPrivate: options.allowPrivate, configured: configuredUrls(entries) });
  const agent = createAgent({ policy, limits, resolve: options.resolve, ca: options.ca });
  const answers = createAnswers(createSend(agent, limits), limits);
  const catalogue = await createCatalogue({ name, entries, answers, base: options.base ?? process.cwd(), log });
  const watching = limits.watch ? createWatching(catalogue, answers, limits, log) : undefined;
  const hasApi = entries.some(({ kind }) => kind === 'api');
  const templates = entries.some(({ kind }) => kind !== 'resource');

  const factsOf = async (target: Target, ctx: Pick<Context, 'signal'>): Promise<Facts | undefined> =>
    target.head ? await answers.facts(target, ctx) : undefined;

  /** Describes entries with the facts from those servers that answer in time. */
  async function described(targets: readonly Target[], ctx: Context): Promise<readonly Resource[]> {
    const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(LIST_HEAD_MS)]);
    const facts = new Map<Target, Facts | undefined>();
    const waiting = targets.filter(({ head }) => head);
    const ask = async (): Promise<void> => {
      for (let target = waiting.shift(); target !== undefined; target = waiting.shift())
        facts.set(target, await factsOf(target, { signal }).catch(() => undefined));
    };
    await Promise.all(Array.from({ length: HEADS_AT_A_TIME }, ask));
    ctx.signal.throwIfAborted();
    return targets.map((target) => resourceOf(target, facts.get(target), limits.watch));
  }

  async function listRoots({ cursor, limit }: Page, ctx: Context): Promise<ResourcePage> {
    const all = await catalogue.targets(ctx);
    const at = cursor === undefined ? 0 : all.findIndex(({ uri }) => uri === cursor) + 1;
    if (cursor !== undefined && at === 0) throw invalid('The cursor names a resource that does not exist');
    const shown = all.slice(at, at + limit);
    return {
      resources: await described(shown, ctx),
      nextCursor: at + shown.length < all.length ? shown.at(-1)?.uri : undefined,
    };
  }

  async function listFeed(feed: Target, { cursor, limit }: Page, ctx: Context): Promise<ResourcePage> {
    const after = cursor === undefined ? undefined : positionOf(cursor);
    const children = await catalogue.children(feed, ctx);
    const rest = after === undefined ? children : children.filter((child) => inOrder(child, after) > 0);
    const shown = rest.slice(0, limit);
    return {
      resources: shown.map((child) => resourceOf(child, undefined, limits.watch)),
      nextCursor: rest.length > shown.length ? cursorOf(shown.at(-1)) : undefined,
    };
  }

  return {
    name,
    features: {
      schemes: schemesOf(
        entries.some(({ kind }) => kind === 'api'),
        configuredUrls(entries),
      ),
      watch: limits.watch,
      templates,
      completion: hasApi || entries.some((entry) => entry.kind === 'template' && entry.template.values.size > 0),
      search: false,
      ranges: true,
      hints: true,
      remote: true,
    },

    async list(uri, page, ctx) {
      ctx.signal.throwIfAborted();
      if (uri === undefined || isRoot(uri)) return listRoots(page, ctx);
      const target = await catalogue.find(uri, ctx);
      if (!isFeed(target, await factsOf(target, ctx))) throw notListable(uri);
      return listFeed(target, page, ctx);
    },

    async metadata(uri, ctx) {
      ctx.signal.throwIfAborted();
      if (isRoot(uri)) return rootOf(uri, name);
      const target = await catalogue.find(uri, ctx);
      return resourceOf(target, await factsOf(target, ctx), limits.watch);
    },

    async read(uri, want, ctx) {
      if (isRoot(uri)) throw invalid('This is the root of all served resources; list it instead of reading it', uri);
      return readWeb({ catalogue, answers, watched: limits.watch }, uri, want, ctx);
    },

    ...(templates && {
      listTemplates: async (page, ctx) => templatePage(await catalogue.templates(ctx), page),
      complete: async (request, ctx) => completeVariable(await catalogue.templates(ctx), request),
    }),

    ...(watching !== undefined && {
      watch: (uri, onChange, ctx) => watching.add(uri, onChange, ctx.signal),
      // A list may have changed by any feed, so the answers of all resources are forgotten then.
      heard: (event) => answers.forget(event.kind === 'updated' ? event.uri : undefined),
    }),

    async close() {
      await watching?.close();
      await catalogue.close();
      if (!agent.destroyed) await agent.destroy();
    },
  } satisfies ResourceProvider;
}

/** Whether a URI is `http://` or `https://` without a host: the root of all served resources. */
const isRoot = (uri: string): boolean => /^https?:\/\/\/?$/i.test(uri);

const rootOf = (uri: string, name: string): Resource => ({
  uri,
  name,
  mimeType: DIRECTORY_MIME_TYPE,
  capabilities: { list: true, subscribe: false },
});

/** Only an API's document names the API's address, so an API may have either scheme. */
const schemesOf = (any: boolean, urls: readonly URL[]): readonly string[] =>
  any ? ['https', 'http'] : [...new Set(urls.map(({ protocol }) => protocol.slice(0, -1)))];

const cursorOf = (last: FeedTarget | undefined): string | undefined =>
  last === undefined ? undefined : JSON.stringify([last.time, last.uri]);

/** @throws ResourceError `invalid` */
function positionOf(cursor: string): { readonly time: number; readonly uri: string } {
  try {
    const [time, uri] = JSON.parse(cursor) as [unknown, unknown];
    if (typeof time === 'number' && typeof uri === 'string') return { time, uri };
  } catch {
    // Falls through: the cursor is refused like any foreign one.
  }
  throw invalid('The cursor is not one of this list');
}
