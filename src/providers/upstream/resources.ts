/** The resources of an upstream as a provider: its answers as they are, and what it lacks supplied from what it has. */

import type { Data } from '../../connection/data.ts';
import { QuestionsAsked } from '../../core/asking/needed.ts';
import { mapInPieces } from '../../core/breaks.ts';
import { type Context, withSignal } from '../../core/context.ts';
import { notFound, notListable, PeerError, ResourceError } from '../../core/errors.ts';
import { ANY_SCHEME } from '../../core/mounts.ts';
import type { CompletionValues, ReadOptions, ResourcePage, ResourceProvider } from '../../core/provider.ts';
import { nameOfUri } from '../../core/uri.ts';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import { RANGE_META_KEY } from '../../protocol/meta.ts';
import { DIRECTORY_READ_METHOD, METADATA_METHOD } from '../../protocol/methods.ts';
import { DIRECTORY_MIME_TYPE, type Resource, type ResourceTemplate } from '../../protocol/resources.ts';
import { type Asking, othersOf } from './asking.ts';
import { bodyOf } from './bodies.ts';
import type { Border } from './border/index.ts';
import type { Connections } from './connections.ts';
import type { Facts } from './facts.ts';
import type { Known } from './known.ts';
import type { Fetch, Keep } from './lists.ts';

export interface ResourcesSetup {
  readonly name: string;
  readonly schemes: readonly string[] | undefined;
  readonly facts: () => Facts;
  readonly asking: Asking;
  readonly connections: Pick<Connections, 'of' | 'here' | 'watchList' | 'apart'>;
  readonly border: Border;
  close(): Promise<void>;
}

/** Entries that are gone through to find one that is asked for by its URI. */
const MAX_LOOKED_AT = 20_000;

const STEP = 1_000;

export function resourcesProvider(setup: ResourcesSetup): ResourceProvider {
  const { name, asking, border, connections, facts } = setup;
  const scanning = new WeakMap<Known, Promise<void>>();

  /** What the upstream says of a resource, and what it does not say of it. */
  function described(entry: Data): Resource {
    const uri = uriOf(entry);
    const { directories, metadata, subscribe } = facts();
    const list = entry.mimeType === DIRECTORY_MIME_TYPE && (directories || metadata);
    const { name = nameOfUri(uri) ?? uri, capabilities = { list, subscribe } } = entry as Partial<Resource>;
    return { ...entry, uri, name, capabilities };
  }

  async function listed(
    key: string,
    method: string,
    params: Data,
    page: { readonly cursor?: string | undefined; readonly limit: number },
    ctx: Context,
  ): Promise<ResourcePage> {
    await connections.here(ctx);
    const { lists, known } = await connections.of(ctx);
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
    const keep: Keep = (entries, context) => border.keep('resource', entries, context);
    const { entries, nextCursor } = await lists.page(key, 'resources', uriOf, page, ctx, fetch, keep);
    const resources = entries.map(described);
    if (!facts().metadata) known.learn(resources, facts().tellsResources);
    return { resources, nextCursor };
  }

  const flat = (page: Parameters<typeof listed>[3], ctx: Context): Promise<ResourcePage> =>
    listed('resources', 'resources/list', {}, page, ctx);

  /** Goes through the list for what is in it; once for all who wait. */
  function scan(known: Known, ctx: Context): Promise<void> {
    const going = scanning.get(known);
    if (going !== undefined) return going;
    // Who asked first may go away.
    const lasting = withSignal(ctx, new AbortController().signal);
    const fresh = scanAll(known, lasting).finally(() => scanning.delete(known));
    scanning.set(known, fresh);
    return fresh;
  }

  async function scanAll(known: Known, ctx: Context): Promise<void> {
    let cursor: string | undefined;
    let seen = 0;
    do {
      const page = await flat({ cursor, limit: STEP }, { ...ctx, notes: undefined });
      known.keep(page.resources, facts().tellsResources);
      seen += page.resources.length;
      cursor = page.nextCursor;
    } while (cursor !== undefined && seen < MAX_LOOKED_AT);
    if (cursor === undefined) known.learnedAll(facts().tellsResources);
  }

  async function metadata(uri: string, ctx: Context): Promise<Resource> {
    const told = facts().metadata ? await ownMetadata(uri, ctx) : undefined;
    if (told !== undefined) return told;
    const { known } = await connections.of(ctx);
    const said = known.get(uri);
    if (said !== undefined) return said;
    if (!known.whole) {
      await scan(known, ctx);
      const found = known.get(uri);
      if (found !== undefined) return found;
    }
    // It is in no list: whether there is such a thing, only a read tells.
    const [body] = await read(uri, { maxBytes: Number.MAX_SAFE_INTEGER, maxChildren: 1 }, ctx);
    if (body === undefined) throw notFound(uri);
    return { ...described({ ...body.resource }), uri };
  }

  /** What the server says when it is asked; undefined when it does not have the method after all (2093-11). */
  async function ownMetadata(uri: string, ctx: Context): Promise<Resource | undefined> {
    const told = await ifKnown(refusing(uri, asking.ask(METADATA_METHOD, uri, { uri }, ctx)));
    if (told?.resource === undefined) return undefined;
    const looked = border.look('resource', told.resource);
    if ('entry' in looked) return described(looked.entry);
    ctx.log.warn('a mounted server describes a resource in a way that is not valid', { mount: name, ...looked });
    throw notValid(uri);
  }

  async function read(uri: string, want: ReadOptions, ctx: Context): ReturnType<ResourceProvider['read']> {
    const ranged = want.range !== undefined && facts().metadata;
    const meta = ranged ? { _meta: { [RANGE_META_KEY]: want.range } } : {};
    const { answers, state } = ctx.round ?? {};
    const requestState = (state as Data | undefined)?.requestState;
    const round = ctx.round === undefined ? {} : { inputResponses: answers, requestState };
    const key = JSON.stringify([uri, ranged ? want.range : null, round]);
    const result = await refusing(uri, asking.ask('resources/read', key, { uri, ...meta, ...round }, ctx));
    if (result.resultType === 'input_required') {
      const requests = (result.inputRequests ?? {}) as Readonly<Record<string, InputRequest>>;
      throw new QuestionsAsked(requests, { requestState: result.requestState }, uri);
    }
    ctx.notes?.passOn(othersOf(result, 'contents'));
    const given: unknown = result.contents;
    if (!Array.isArray(given)) throw notValid(uri);
    const items = await border.keep('content', given, ctx);
    if (items.length === 0 && given.length > 0) throw notValid(uri);
    // Without capabilities nothing says that the others are children: the first is what was read (2093-7).
    const [first] = items;
    const { metadata: within } = facts();
    return await mapInPieces(items, (item) => bodyOf(item, uri, item !== first || within, ranged));
  }

  const notValid = (uri: string): ResourceError =>
    new ResourceError('internal', `The server behind "${name}" gave an answer that is not valid`, { uri });

  return {
    name,
    get features() {
      const { subscribe, tellsResources, resources, completion, metadata: ranges } = facts();
      return {
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
      // What lies below its entries is in its list as well.
      if (uri === undefined && page.containersOnly) return { resources: [], whole: true };
      // Without resources there is nothing to ask; with them unknown, reaching it finds out.
      if (!facts().resources) await connections.here(ctx);
      if (!facts().resources) {
        ctx.notes?.plain();
        if (uri === undefined) return { resources: [] };
        throw notFound(uri);
      }
      if (uri === undefined) {
        const { resources, nextCursor } = await flat(page, ctx);
        return { resources, nextCursor, whole: true };
      }
      const { metadata: scoped, directories } = facts();
      if (scoped) return refusing(uri, listed(`in ${uri}`, 'resources/list', { uri }, page, ctx));
      if (directories) return refusing(uri, listed(`in ${uri}`, DIRECTORY_READ_METHOD, { uri }, page, ctx));
      throw notListable((await metadata(uri, ctx)).uri);
    },

    metadata,
    read,

    async isListed(uri, ctx) {
      const { known } = await connections.of(ctx);
      if (known.get(uri) === undefined && !known.whole) await scan(known, ctx);
      return known.get(uri) !== undefined;
    },

    async listTemplates(page, ctx) {
      if (!facts().resources) {
        ctx.notes?.plain();
        return { resourceTemplates: [] };
      }
      await connections.here(ctx);
      const { lists } = await connections.of(ctx);
      const { entries, nextCursor } = await lists.page(
        'templates',
        'resourceTemplates',
        templateOf,
        page,
        ctx,
        async (cursor, context) => {
          const params = cursor === undefined ? {} : { cursor };
          const asked = asking.ask('resources/templates/list', JSON.stringify(cursor ?? null), params, context);
          // No capability says that a server with resources has templates.
          const result = (await ifKnown(asked)) ?? { resourceTemplates: [] };
          context.notes?.passOn(othersOf(result, 'resourceTemplates'));
          return result;
        },
        (entries, context) => border.keep('resource template', entries, context),
      );
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
      const world = await connections.of(ctx);
      world.watched = true;
      return refusing(
        uri,
        world.watching.resource(uri, () => onChange({ kind: 'updated', uri }), ctx),
      );
    },

    close: () => setup.close(),
  };
}

const uriOf = (entry: Data): string => String(entry.uri);
const templateOf = (entry: Data): string => String(entry.uriTemplate);

/** What a server answers; undefined when it does not have the method. */
async function ifKnown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PeerError && error.wire.code === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
}

/** An upstream's answer that there is no such resource comes in the code of either era: from here on it has one. */
async function refusing<T>(uri: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    const { code, data } = error.wire;
    // A reason says what else is wrong with the request.
    const lacks = code === INVALID_PARAMS && data?.uri === uri && data.reason === undefined;
    const missing = code === LEGACY_RESOURCE_NOT_FOUND || lacks;
    throw new PeerError(missing ? { ...error.wire, code: LEGACY_RESOURCE_NOT_FOUND } : error.wire, uri);
  }
}

/** The values of a completion, however much of it is there. */
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
