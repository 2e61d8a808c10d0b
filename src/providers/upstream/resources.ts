/** Serves the resources of an upstream as a provider: passes its answers on, and makes up for features that it lacks. */

import type { Data } from '../../connection/data.ts';
import { identityOf } from '../../connection/uris.ts';
import { QuestionsAsked } from '../../core/asking/needed.ts';
import { mapInPieces } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { notFound, notListable, ResourceError } from '../../core/errors.ts';
import { ANY_SCHEME } from '../../core/mounts.ts';
import type { ChangeEvent, CompletionValues, Page, ReadOptions, ResourceProvider } from '../../core/provider.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import { RANGE_META_KEY } from '../../protocol/meta.ts';
import { DIRECTORY_READ_METHOD } from '../../protocol/methods.ts';
import type { ResourceCapabilities, ResourceTemplate } from '../../protocol/resources.ts';
import { type Asking, othersOf } from './asking.ts';
import { bodyOf, withinBytes } from './bodies.ts';
import type { Border } from './border/index.ts';
import { completeEntry, completeItem } from './complete.ts';
import type { Connections } from './connections.ts';
import type { Facts } from './facts.ts';
import { declaresList, type Entry, type KnownResources } from './known.ts';
import type { Fetch, Fetching, KeepValid, List } from './lists.ts';
import { createMetadata, type EntryPage } from './metadata.ts';
import { ifKnown, refusing } from './refusing.ts';

export interface ResourcesSetup {
  readonly name: string;
  readonly schemes: readonly string[] | undefined;
  readonly facts: () => Facts;
  readonly asking: Asking;
  readonly connections: Pick<Connections, 'of' | 'here' | 'watchList' | 'apart'>;
  readonly border: Border;
  /** Forgets cached answers that a change has made out of date; undefined if each replica has a server of its own. */
  readonly heard: ((event: ChangeEvent) => void) | undefined;
  close(): Promise<void>;
}

export function resourcesProvider(setup: ResourcesSetup): ResourceProvider {
  const { name, asking, border, connections, facts, heard } = setup;

  /** Returns a page of one of the server's lists. Remembers its entries if the server declares no way to ask for metadata. */
  async function listed(key: string, method: string, params: Data, page: Page, ctx: Context): Promise<EntryPage> {
    const fetch: Fetch = async (cursor, context) => {
      const result = await asking.ask(
        method,
        JSON.stringify([key, cursor]),
        { ...params, ...(cursor !== undefined && { cursor }) },
        context,
      );
      context.notes?.passOn(othersOf(result, 'resources'));
      return result;
    };
    await connections.here(ctx);
    const { known, fetching } = await connections.of(ctx);
    const asked = known.period;
    const result = await paged(key, page, ctx, fetch, fetching);
    if (!facts().metadata) known.learn(result.entries, facts().tellsResources, asked);
    return result;
  }

  async function paged(key: string, page: Page, ctx: Context, fetch: Fetch, fetching?: Fetching): Promise<EntryPage> {
    const { lists } = await connections.of(ctx);
    const keep: KeepValid = (entries, context) => border.keep('resource', entries, context);
    const list: List = {
      key,
      field: 'resources',
      idOf: uriOf,
      fetch,
      keep,
      ...(fetching !== undefined && { fetching }),
    };
    const { entries, nextCursor } = await lists.page(list, page, ctx);
    return { entries: entries as readonly Entry[], nextCursor };
  }

  const flat = (page: Page, ctx: Context): Promise<EntryPage> => listed('resources', 'resources/list', {}, page, ctx);

  /** Lists the children that a read of the resource gives, for a server that has no other list of them (2093-13). */
  const readAsList = (uri: string, page: Page, known: KnownResources, ctx: Context): Promise<EntryPage> =>
    paged(`read ${uri}`, page, ctx, async (_cursor, context) => {
      const children = new Map<string, Data>();
      for (const { text: _text, blob: _blob, ...child } of await readItems(uri, {}, {}, known, context)) {
        if (identityOf(child.uri) !== identityOf(uri) && !children.has(child.uri)) children.set(child.uri, child);
      }
      if (children.size === 0) throw notListable(uri);
      return { resources: [...children.values()] };
    });

  /** Lists the direct children of a resource. @throws ResourceError `not-found`, `not-listable` */
  async function childrenOf(uri: string, page: Page, known: KnownResources, ctx: Context): Promise<EntryPage> {
    const listIn = (): Promise<EntryPage> => listed(`in ${uri}`, 'resources/list', { uri }, page, ctx);
    if (facts().metadata || declaresList(known.get(uri))) return listIn();
    if (facts().directories) return listed(`in ${uri}`, DIRECTORY_READ_METHOD, { uri }, page, ctx);
    const described = await metadata.describe(uri, ctx);
    const { uri: found, capabilities } = described.resource;
    if (capabilities?.list !== true) throw notListable(found);
    return known.hasSeveral(uri) && !described.declaresList ? readAsList(uri, page, known, ctx) : listIn();
  }

  async function read(uri: string, want: ReadOptions, ctx: Context): ReturnType<ResourceProvider['read']> {
    const ranged = want.range !== undefined && facts().ranges;
    const meta = ranged ? { _meta: { [RANGE_META_KEY]: want.range } } : {};
    const { answers, state } = ctx.round ?? {};
    const requestState = (state as Data | undefined)?.requestState;
    const round = ctx.round === undefined ? {} : { inputResponses: answers, requestState };
    const { known } = await connections.of(ctx);
    const items = await readItems(uri, meta, round, known, ctx);
    const [first] = items;
    // If no item has the URI that was read, the first one is the resource itself, unless the resource has children (2093-7).
    const isChild = first !== undefined && !isAbout(first, uri) && (await isListable(uri, items, ctx));
    const bodies = await mapInPieces(items, (item) =>
      bodyOf(completeItem(item, known, facts()), {
        uri,
        within: item !== first || isChild,
        ours: facts().ranges,
        ranged,
      }),
    );
    if (want.range !== undefined) return bodies;
    const fitting = withinBytes(bodies, want.maxBytes);
    const lost = bodies.length - fitting.length;
    if (lost > 0) {
      const reason = `${lost} contents are left out: a read gives at most ${want.maxBytes} bytes; read them one by one`;
      ctx.notes?.missing({ mount: name, reason });
    }
    return fitting;
  }

  /** Whether the server says, with the contents or elsewhere, that the resource has children (2093-5). */
  async function isListable(uri: string, items: readonly Entry[], ctx: Context): Promise<boolean> {
    if (facts().metadata) return true;
    const item = items.find((candidate) => isAbout(candidate, uri));
    const capabilities = item?.capabilities as Partial<ResourceCapabilities> | undefined;
    return capabilities?.list ?? (await metadata.saysListable(uri, ctx));
  }

  /** Returns the valid items of a read. An item without a URI gets the URI that was read. */
  async function readItems(
    uri: string,
    meta: Data,
    round: Data,
    known: KnownResources,
    ctx: Context,
  ): Promise<readonly Entry[]> {
    const key = JSON.stringify([uri, meta, round]);
    // A read that answers a question of the server belongs to this round alone, so it is not conditional.
    const versions = facts().ranges && ctx.round === undefined;
    const result = await refusing(uri, asking.ask('resources/read', key, { uri, ...meta, ...round }, ctx, versions));
    if (result.resultType === 'input_required') {
      const requests = (result.inputRequests ?? {}) as Readonly<Record<string, InputRequest>>;
      throw new QuestionsAsked(requests, { requestState: result.requestState }, uri);
    }
    ctx.notes?.passOn(othersOf(result, 'contents'));
    const { contents } = result;
    if (!Array.isArray(contents)) throw notValid(uri);
    const kept = await border.keep('content', contents, ctx);
    if (kept.length === 0 && contents.length > 0) throw notValid(uri);
    const items = kept.map((item): Entry => ({ ...item, uri: typeof item.uri === 'string' ? item.uri : uri }));
    known.learnSeveral(uri, new Set(items.map((item) => identityOf(item.uri))).size > 1);
    return items;
  }

  const metadata = createMetadata({
    ...{ name, facts, asking, connections, border, list: flat },
    notValid: (uri) => notValid(uri),
    read: (uri, ctx) => read(uri, { maxBytes: Number.MAX_SAFE_INTEGER, maxChildren: 1 }, ctx),
  });

  const notValid = (uri: string): ResourceError =>
    new ResourceError('internal', `The server behind "${name}" gave an answer that is not valid`, { uri });

  return {
    name,
    get features() {
      const { subscribe, tellsResources, resources, completion, ranges } = facts();
      return {
        resources,
        schemes: setup.schemes ?? [ANY_SCHEME],
        watch: subscribe || tellsResources,
        watchesResources: subscribe,
        templates: resources,
        completion: completion && resources,
        search: false,
        ranges,
        hints: true,
        remote: true,
        foreign: true,
        apart: connections.apart,
      };
    },

    async list(uri, page, ctx) {
      // The server's list is whole: it also has what lies below its entries, so there is nothing to descend into.
      if (uri === undefined && page.containersOnly) return { resources: [], whole: true };
      // A server without resources need not be asked. If that is unknown, or may have changed, connecting to it finds out.
      const { reached, resources: some } = facts();
      if (!reached || !some) await connections.here(ctx);
      if (!facts().resources) {
        ctx.notes?.plain();
        if (uri === undefined) return { resources: [] };
        throw notFound(uri);
      }
      const { known } = await connections.of(ctx);
      const listing = uri === undefined ? flat(page, ctx) : refusing(uri, childrenOf(uri, page, known, ctx));
      const { entries, nextCursor } = await listing;
      const resources = entries.map((entry) => completeEntry(entry, known, facts()));
      return { resources, nextCursor, ...(uri === undefined && { whole: true }) };
    },

    metadata: metadata.of,
    read,
    isListed: metadata.isListed,

    async listTemplates(page, ctx) {
      if (!facts().resources) {
        ctx.notes?.plain();
        return { resourceTemplates: [] };
      }
      await connections.here(ctx);
      const { lists, fetching } = await connections.of(ctx);
      const fetch: Fetch = async (cursor, context) => {
        const params = cursor === undefined ? {} : { cursor };
        const answer = asking.ask('resources/templates/list', JSON.stringify(cursor ?? null), params, context);
        // No capability says whether a server with resources has templates.
        const result = (await ifKnown(answer)) ?? { resourceTemplates: [] };
        context.notes?.passOn(othersOf(result, 'resourceTemplates'));
        return result;
      };
      const keep: KeepValid = (entries, context) => border.keep('resource template', entries, context);
      const list: List = { key: 'templates', field: 'resourceTemplates', idOf: templateOf, fetch, keep, fetching };
      const { entries, nextCursor } = await lists.page(list, page, ctx);
      return { resourceTemplates: entries as unknown as readonly ResourceTemplate[], nextCursor };
    },

    async complete({ uriTemplate, variable, value, known: others, limit }, ctx) {
      const result = await asking.ask(
        'completion/complete',
        crypto.randomUUID(),
        {
          ref: { type: 'ref/resource', uri: uriTemplate },
          argument: { name: variable, value },
          ...(Object.keys(others).length > 0 && { context: { arguments: others } }),
        },
        ctx,
      );
      return completionIn(result, limit);
    },

    async watch(uri, onChange, ctx) {
      if (uri === undefined) return connections.watchList('resources', () => onChange({ kind: 'list-changed' }), ctx);
      const view = await connections.of(ctx);
      view.watched = true;
      return refusing(
        uri,
        view.watching.resource(uri, () => onChange({ kind: 'updated', uri }), ctx),
      );
    },

    ...(heard !== undefined && { heard }),

    close: () => setup.close(),
  };
}

const uriOf = (entry: Data): string => String(entry.uri);
const templateOf = (entry: Data): string => String(entry.uriTemplate);

const isAbout = (item: Entry, uri: string): boolean => identityOf(item.uri) === identityOf(uri);

/** Reads the values of a completion from a result, any field of which may be missing. @param limit the most values */
export function completionIn(result: Data, limit: number): CompletionValues {
  const { values, total, hasMore, ...completion } = (result.completion ?? {}) as Data;
  const texts = Array.isArray(values) ? values.filter((value): value is string => typeof value === 'string') : [];
  return {
    values: texts.slice(0, limit),
    hasMore: hasMore === true || texts.length > limit,
    ...(Number.isSafeInteger(total) && Number(total) >= 0 && { total: Number(total) }),
    others: { completion, result: othersOf(result, 'completion') },
  };
}
