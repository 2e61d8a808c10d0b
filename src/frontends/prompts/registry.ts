/** All prompts of a server: fixed ones, those of sources that change, and those of mounted servers. */
import { FULL_SIGHT, type Sight } from '../../core/access.ts';
import { type ListSource, pageAcross, type SourcePage } from '../../core/across.ts';
import type { Context } from '../../core/context.ts';
import { fillPage } from '../../core/filtered-list.ts';
import type { Prompt, PromptSource } from '../../core/prompt.ts';
import type { Page } from '../../core/provider.ts';
import type { PublishedServer } from '../../core/published-server.ts';
import type { PromptDescription } from '../../protocol/content.ts';
import { pageOf } from '../page.ts';
import { createServerRoutes, isListed } from '../server-routes.ts';

export interface PromptRegistry {
  /** Whether there can be prompts now. */
  readonly some: boolean;
  /** Own ones, without those of mounted servers. */
  list(ctx: Context): Promise<readonly Prompt[]>;
  /** The descriptions of all, own ones first. */
  page(page: Page, ctx: Context): Promise<SourcePage<PromptDescription>>;
  /** The mounted server that a prompt would be of. */
  serverOf(name: string): PublishedServer | undefined;
  /** Whose prompt it is, or would be. */
  placeOf(name: string, ctx: Context): Promise<PromptPlace>;
  /** Whether the list can change. */
  readonly watchable: boolean;
  /** @throws what the sources throw when none of them can be watched */
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  close(): Promise<void>;
}

export interface PromptPlace {
  /** The mount that it belongs to; undefined for one of none. */
  readonly mount: string | undefined;
  /** Whether a mounted server lists it; undefined for one that is, or would be, an own one. */
  readonly exists: (() => Promise<boolean>) | undefined;
}

interface OwnPrompt {
  readonly prompt: Prompt;
  readonly mount: string | undefined;
}

/** The first of two prompts with one name wins; the log says so. */
export function createPromptRegistry(
  given: readonly (Prompt | PromptSource)[],
  servers: readonly PublishedServer[] = [],
  sight: Sight = FULL_SIGHT,
): PromptRegistry {
  const sources = given.map((each): PromptSource => ('get' in each ? { list: async () => [each] } : each));
  const fixed = given.flatMap((each) => ('get' in each ? [each.name] : (each.names ?? [])));
  const routes = createServerRoutes('prompts', servers, fixed, async (ctx) =>
    (await list(ctx)).map((prompt) => prompt.name),
  );

  async function listOwn(ctx: Context): Promise<ReadonlyMap<string, OwnPrompt>> {
    const byName = new Map<string, OwnPrompt>();
    const lists = await Promise.all(sources.map(async (source) => ({ source, prompts: await source.list(ctx) })));
    for (const { source, prompts } of lists) {
      for (const prompt of prompts) {
        if (byName.has(prompt.name)) ctx.log.warn('two prompts have one name', { prompt: prompt.name });
        else byName.set(prompt.name, { prompt, mount: source.mount });
      }
    }
    return byName;
  }

  const list = async (ctx: Context): Promise<readonly Prompt[]> =>
    [...(await listOwn(ctx)).values()].map(({ prompt }) => prompt);

  const own: ListSource<PromptDescription> = {
    name: '',
    remote: false,
    async list(page, ctx) {
      ctx.notes?.plain();
      const { items, nextCursor } = pageOf(await list(ctx), (prompt) => prompt.name, page);
      return { items: items.map(describe), nextCursor };
    },
  };
  const all = [
    ...(sources.length > 0 ? [own] : []),
    ...routes.sources(async (server, page, ctx) => {
      const { prompts: items, nextCursor } = await server.listPrompts(page, ctx);
      return { items, nextCursor };
    }),
  ];

  return {
    get some() {
      return sources.length > 0 || routes.some;
    },
    list,
    async page(page, ctx) {
      const own = await listOwn(ctx);
      return fillPage(
        (wanted, quietly) => pageAcross(all, wanted, quietly ? { ...ctx, notes: undefined } : sight.within(ctx)),
        page,
        async (prompt) => {
          const { name } = prompt;
          const mount = (own.get(name) ?? routes.find(name))?.mount;
          return (await sight.shows({ operation: 'prompt', name, mount }, ctx)) ? prompt : undefined;
        },
        ctx,
      );
    },
    serverOf: (name) => routes.find(name),
    async placeOf(name, ctx) {
      const own = (await listOwn(ctx)).get(name);
      const server = own === undefined ? routes.find(name) : undefined;
      if (server === undefined) return { mount: own?.mount, exists: undefined };
      const exists = (): Promise<boolean> =>
        isListed(name, async (page) => {
          const { prompts: items, nextCursor } = await server.listPrompts(page, { ...ctx, notes: undefined });
          return { items, nextCursor };
        });
      return { mount: server.mount, exists };
    },
    get watchable() {
      return routes.watchable || sources.some((source) => source.watch !== undefined);
    },
    async watch(onChange, ctx) {
      const watched = [...sources.flatMap((source) => source.watch?.bind(source) ?? [])];
      if (servers.length > 0) watched.push((changed, context) => routes.watch(changed, context));
      const opened = await Promise.allSettled(watched.map((watch) => watch(onChange, ctx)));
      const handles = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const failed = opened.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      if (handles.length === 0 && failed.length > 0) throw failed[0];
      for (const error of failed) ctx.log.warn('changes of some prompts go unnoticed', { error });
      return {
        async [Symbol.asyncDispose]() {
          await Promise.allSettled(handles.map((handle) => handle[Symbol.asyncDispose]()));
        },
      };
    },
    async close() {
      await Promise.allSettled(sources.map((source) => source.close?.()));
    },
  };
}

function describe({ name, title, description, icons, arguments: args, _meta }: Prompt): PromptDescription {
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons !== undefined && { icons }),
    ...(args !== undefined && args.length > 0 && { arguments: args }),
    ...(_meta !== undefined && { _meta }),
  };
}
