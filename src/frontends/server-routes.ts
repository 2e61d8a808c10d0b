/** Finds the mounted server that a name belongs to, and lists the names of all servers, for tools as for prompts. */

import type { Context } from '../core/context.ts';
import { invalid } from '../core/errors.ts';
import type { ListSource, SourcePage } from '../core/lists/across.ts';
import type { ServerList } from '../core/mounts/mounted-server.ts';
import type { PublishedServer } from '../core/mounts/published-server.ts';
import type { Named, Owner } from '../core/operations.ts';
import type { Page } from '../core/provider.ts';

export interface ServerRoutes {
  /** Whether a mounted server has tools or prompts, or may have. */
  readonly some: boolean;
  /** Whether a mounted server reports changes of its list, or may. */
  readonly watchable: boolean;
  /** Whether a mounted server sends log messages, or may. */
  readonly logging: boolean;
  /** The mounted server that a name belongs to; undefined for this server's own names, and for names of no server. */
  find(name: string): PublishedServer | undefined;
  /** One source per mounted server, without the entries whose names belong to another server. */
  sources<T extends { readonly name: string }>(list: ListOf<T>): ListSource<Named<T>>[];
  /** The owner of a name, even if no such name is listed; undefined for this server's own names, and for names of no server. */
  ownerOf(name: string, list: ListOf<{ readonly name: string }>): Owner | undefined;
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

/** Gets a page of a mounted server's list. */
export type ListOf<T> = (server: PublishedServer, page: Page, ctx: Context) => Promise<SourcePage<T>>;

/**
 * @param own the names of this server itself that never change
 * @param ownNow gets all names that this server itself has now. Default: this server has none that change
 * @throws ResourceError `invalid` when names would be ambiguous
 */
export function createServerRoutes(
  kind: ServerList,
  servers: readonly PublishedServer[],
  own: readonly string[],
  ownNow: (ctx: Context) => Promise<readonly string[]> = async () => [],
): ServerRoutes {
  const bare = servers.filter((server) => server.prefix === '');
  const [unprefixed, second] = bare;
  if (unprefixed !== undefined && second !== undefined) {
    throw invalid(
      `Mounts "${unprefixed.mount}" and "${second.mount}" both have their ${kind} without a prefix, and two of one ` +
        'name could not be told apart; remove "prefix: none" from one',
    );
  }
  for (const server of servers.filter(({ prefix }) => prefix !== '')) {
    const name = own.find((ownName) => ownName.startsWith(server.prefix));
    if (name !== undefined) {
      throw invalid(
        `The ${kind} of mount "${server.mount}" begin with "${server.prefix}", and so does "${name}"; rename one` +
          (kind === 'tools' ? ', or set a prefix for the resource tools' : ''),
      );
    }
  }
  const ownNames = new Set(own);
  const byPrefix = new Map(servers.map((server) => [server.prefix, server]));
  const has = (server: PublishedServer): boolean => server.features[kind];

  function find(name: string): PublishedServer | undefined {
    if (ownNames.has(name)) return undefined;
    // A mount's name has no underscore, so the first underscore ends the prefix.
    const prefixed = byPrefix.get(name.slice(0, name.indexOf('_') + 1));
    return prefixed ?? unprefixed;
  }

  return {
    get some() {
      return servers.some(has);
    },
    get watchable() {
      return servers.some(
        ({ features }) => (kind === 'tools' ? features.toolChanges : features.promptChanges) !== false,
      );
    },
    get logging() {
      return servers.some(({ features }) => features.logging !== false);
    },
    find,
    sources: (list) =>
      servers.map((server) => ({
        name: server.mount,
        remote: true,
        async list(page, ctx) {
          if (!has(server)) return { items: [] };
          const { items, ...rest } = await list(server, page, ctx);
          const taken = new Set(items.length === 0 ? [] : await ownNow(ctx));
          const [kept, others] = partition(items, ({ name }) => !taken.has(name) && find(name) === server);
          for (const { name } of others) {
            ctx.log.warn('left out: its name belongs to another server; give the mount a prefix', {
              mount: server.mount,
              name,
            });
            const reason = 'A name is left out: it belongs to another server';
            ctx.notes?.missing({ mount: server.mount, reason, entry: name });
          }
          const owner: Owner = { mount: server.mount, foreign: true };
          return { ...rest, items: kept.map((described) => ({ described, owner })) };
        },
      })),
    ownerOf(name, list) {
      const server = find(name);
      if (server === undefined) return undefined;
      const exists = (ctx: Context): Promise<boolean> =>
        isListed(name, (page) => list(server, page, { ...ctx, notes: undefined }));
      return { mount: server.mount, foreign: true, exists };
    },
    async watch(onChange, ctx) {
      const opened = await Promise.allSettled(servers.map((server) => server.watch(kind, onChange, ctx)));
      const handles = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      for (const result of opened) {
        if (result.status === 'rejected')
          ctx.log.warn(`changes of some ${kind} go unnoticed`, { error: result.reason });
      }
      return {
        async [Symbol.asyncDispose]() {
          await Promise.allSettled(handles.map((handle) => handle[Symbol.asyncDispose]()));
        },
      };
    },
  };
}

function partition<T>(all: readonly T[], test: (item: T) => boolean): [yes: T[], no: T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of all) (test(item) ? yes : no).push(item);
  return [yes, no];
}

/** The most entries that are searched for one name. */
const MAX_LOOKED_THROUGH = 10_000;

/** Whether a list has a name. The search never stops early, so that its time does not tell whether the name exists. */
async function isListed(
  name: string,
  list: (page: Page) => Promise<SourcePage<{ readonly name: string }>>,
): Promise<boolean> {
  let found = false;
  let cursor: string | undefined;
  let seen = 0;
  do {
    const page = await list({ cursor, limit: 1_000 });
    found ||= page.items.some((item) => item.name === name);
    seen += Math.max(1, page.items.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined && seen < MAX_LOOKED_THROUGH);
  return found;
}
