/** All prompts of a server: fixed prompts, prompts of sources that change, and prompts of mounted servers. */

import { sendablePrompt } from '../../core/content-blocks.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { keyed } from '../../core/keyed.ts';
import { type ListSource, pageAcross } from '../../core/lists/across.ts';
import { fillPage } from '../../core/lists/filtered-list.ts';
import type { PublishedServer } from '../../core/mounts/published-server.ts';
import type { Named, NamedOperations, Owner } from '../../core/operations.ts';
import { noSuchPrompt, type Prompt, type PromptSource } from '../../core/prompt.ts';
import type { PromptDescription } from '../../protocol/content.ts';
import { isInputRequired } from '../../protocol/input-required.ts';
import { pageOf } from '../page.ts';
import { createServerRoutes, type ListOf } from '../server-routes.ts';
import { checkArguments } from './arguments.ts';

/** Lists and gives prompts. The layers wrap these operations: no other code calls them directly. */
export interface PromptRegistry extends Pick<NamedOperations, 'listPrompts' | 'getPrompt' | 'completePrompt'> {
  /** Whether there can be prompts now. */
  readonly some: boolean;
  /** Names of this server's own prompts, without those of mounted servers. */
  ownNames(ctx: Context): Promise<readonly string[]>;
  /** The owner of the prompt with this name, or the owner that it would have if it existed. */
  ownerOf(name: string, ctx: Context): Promise<Owner>;
  /** Whether the list can change. */
  readonly watchable: boolean;
  /** @throws the first error of the sources, if none of them can be watched */
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  close(): Promise<void>;
}

interface OwnPrompt {
  readonly prompt: Prompt;
  readonly mount: string | undefined;
}

const listOf: ListOf<PromptDescription> = async (server, page, ctx) => {
  const { prompts: items, nextCursor } = await server.listPrompts(page, ctx);
  return { items, nextCursor };
};

/** Lists this server's own prompts first. Of two prompts with one name, the first is served, and the log warns. */
export function createPromptRegistry(
  given: readonly (Prompt | PromptSource)[],
  servers: readonly PublishedServer[] = [],
): PromptRegistry {
  const sources = given.map((entry): PromptSource => ('get' in entry ? { list: async () => [entry] } : entry));
  const fixed = given.flatMap((entry) => ('get' in entry ? [entry.name] : (entry.names ?? [])));
  const ownNames = async (ctx: Context): Promise<readonly string[]> => [...(await listOwn(ctx)).keys()];
  const routes = createServerRoutes('prompts', servers, fixed, ownNames);

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

  const own: ListSource<Named<PromptDescription>> = {
    name: '',
    remote: false,
    async list(page, ctx) {
      ctx.notes?.plain();
      const all = [...(await listOwn(ctx)).values()];
      const { items, nextCursor } = pageOf(all, ({ prompt }) => prompt.name, page);
      return {
        items: items.map(({ prompt, mount }) => ({ described: describe(prompt), owner: { mount } })),
        nextCursor,
      };
    },
  };
  const all = [...(sources.length > 0 ? [own] : []), ...routes.sources(listOf)];

  /** @throws ResourceError `invalid` */
  function serverOf(name: string): PublishedServer {
    const server = routes.find(name);
    if (server === undefined) throw noSuchPrompt(name);
    return server;
  }

  return {
    get some() {
      return sources.length > 0 || routes.some;
    },
    listPrompts: (page, ctx) =>
      fillPage(
        (wanted, quietly) => pageAcross(all, wanted, quietly ? { ...ctx, notes: undefined } : ctx),
        page,
        (prompt) => prompt,
        ctx,
      ),
    ownNames,
    async ownerOf(name, ctx) {
      const own = (await listOwn(ctx)).get(name);
      return own === undefined ? (routes.ownerOf(name, listOf) ?? {}) : { mount: own.mount };
    },
    async getPrompt(request, _owner, invocation) {
      const { name } = request;
      const own = (await listOwn(invocation)).get(name);
      if (own === undefined) return serverOf(name).getPrompt(request, invocation);
      const values = checkArguments(own.prompt, keyed(request.arguments as Readonly<Record<string, string>>));
      const result = await own.prompt.get(values, invocation);
      return isInputRequired(result) ? result : sendablePrompt(result);
    },
    async completePrompt(request, _owner, ctx) {
      const { prompt: name, argument, value, known } = request;
      const own = (await listOwn(ctx)).get(name);
      if (own === undefined) return serverOf(name).completePrompt(request, ctx);
      if (!own.prompt.arguments?.some((declared) => declared.name === argument)) {
        throw invalid(`The prompt ${name} has no argument ${JSON.stringify(argument)}`);
      }
      const values = (await own.prompt.complete?.(argument, value, known, ctx)) ?? [];
      return { values, total: values.length, hasMore: false };
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
      await Promise.allSettled(sources.map(async (source) => source.close?.()));
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
