/** All tools of a server: its own, whose arguments and results are checked here, and those of mounted servers. */
import { FULL_SIGHT, type Sight } from '../../core/access.ts';
import { type ListSource, pageAcross, type SourcePage } from '../../core/across.ts';
import { sendableResult } from '../../core/content-blocks.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { fillPage } from '../../core/filtered-list.ts';
import { type HeaderParameter, headerParametersOf } from '../../core/header-parameters.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { NamedRequest } from '../../core/mounted-server.ts';
import type { Page } from '../../core/provider.ts';
import type { PublishedServer } from '../../core/published-server.ts';
import { withRoots } from '../../core/roots.ts';
import { type CompiledSchema, compileSchema } from '../../core/schema.ts';
import { scrub } from '../../core/scrub.ts';
import { noSuchTool, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { type CallToolResult, type ToolDescription, text } from '../../protocol/content.ts';
import { type InputRequired, isInputRequired } from '../../protocol/input-required.ts';
import { pageOf } from '../page.ts';
import { createServerRoutes, isListed } from '../server-routes.ts';

export interface ToolRegistry {
  /** Whether there can be tools now. */
  readonly some: boolean;
  /** Whether the list can change. */
  readonly watchable: boolean;
  /** The descriptions, in the order they were given; own ones first. */
  page(page: Page, ctx: Context): Promise<SourcePage<ToolDescription>>;
  /** @throws ResourceError `invalid` for a tool that is not there, and what a mounted server answers with */
  call(request: NamedRequest, invocation: Invocation): Promise<CallToolResult | InputRequired>;
  /** The mount whose tool it would be; undefined for an own one. */
  mountOf(name: string): string | undefined;
  /** Whether a mounted server lists the tool; undefined for one that would be an own one. */
  exists(name: string, ctx: Context): (() => Promise<boolean>) | undefined;
  /** Whether a tool does nothing but what is asked about again, resource by resource. */
  onlyResources(name: string): boolean;
  /** The arguments that HTTP clients repeat in headers; none for a tool that is not there. */
  headerParameters(name: string, ctx: Context): Promise<readonly HeaderParameter[]>;
  /** Calls back when the list may have changed. */
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

export interface ToolSight {
  readonly sight?: Sight | undefined;
  /** Names of those that do nothing but what is asked about again, resource by resource. */
  readonly resourceTools?: ReadonlySet<string>;
}

interface CompiledTool {
  readonly tool: Tool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly description: ToolDescription;
  readonly headers: readonly HeaderParameter[];
}

/**
 * @throws TypeError when two tools have one name
 * @throws ResourceError `invalid` when names of mounted servers could be those of others
 */
export function createToolRegistry(
  tools: readonly Tool[],
  servers: readonly PublishedServer[] = [],
  { sight = FULL_SIGHT, resourceTools = new Set() }: ToolSight = {},
): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new TypeError(`Two tools are named "${tool.name}"; rename one, or set a prefix for the resource tools`);
    byName.set(tool.name, tool);
  }
  const routes = createServerRoutes('tools', servers, [...byName.keys()]);
  const compiled = new Map<string, Promise<CompiledTool | undefined>>();
  /** A tool whose schemas are no good is as if it were not there: the others do not suffer for it. */
  const compile = (tool: Tool, { log }: Context): Promise<CompiledTool | undefined> => {
    const known =
      compiled.get(tool.name) ??
      compileTool(tool).catch((error: unknown) => {
        log.error('a tool is left out: its schemas are not valid', { tool: tool.name, error });
        return undefined;
      });
    compiled.set(tool.name, known);
    return known;
  };
  const shows = (name: string, ctx: Context): Promise<boolean> =>
    sight.shows({ operation: 'call', name, mount: mountOf(name), onlyResources: resourceTools.has(name) }, ctx);
  const mountOf = (name: string): string | undefined => (byName.has(name) ? undefined : routes.find(name)?.mount);
  const own: ListSource<ToolDescription> = {
    name: '',
    remote: false,
    async list(page, ctx) {
      ctx.notes?.plain();
      const { items, nextCursor } = pageOf([...byName.values()], (tool) => tool.name, page);
      const good = await Promise.all(items.map((tool) => compile(tool, ctx)));
      return { items: good.flatMap((each) => (each === undefined ? [] : [each.description])), nextCursor };
    },
  };
  const sources = [
    ...(byName.size > 0 ? [own] : []),
    ...routes.sources(async (server, page, ctx) => {
      const { tools: items, nextCursor } = await server.listTools(page, ctx);
      return { items, nextCursor };
    }),
  ];

  return {
    get some() {
      return byName.size > 0 || routes.some;
    },
    get watchable() {
      return routes.watchable;
    },
    page: (page, ctx) =>
      fillPage(
        (wanted, quietly) => pageAcross(sources, wanted, quietly ? { ...ctx, notes: undefined } : sight.within(ctx)),
        page,
        async (tool) => ((await shows(tool.name, ctx)) ? tool : undefined),
        ctx,
      ),
    onlyResources: (name) => resourceTools.has(name),
    async call(request, invocation) {
      const tool = byName.get(request.name);
      if (tool !== undefined) {
        const good = await compile(tool, invocation);
        if (good === undefined) throw noSuchTool(request.name);
        return run(good, request.arguments, invocation);
      }
      const server = routes.find(request.name);
      if (server !== undefined) return server.callTool(request, invocation);
      throw noSuchTool(request.name);
    },
    mountOf,
    exists(name, ctx) {
      const server = byName.has(name) ? undefined : routes.find(name);
      if (server === undefined) return undefined;
      return () =>
        isListed(name, async (page) => {
          const { tools: items, nextCursor } = await server.listTools(page, { ...ctx, notes: undefined });
          return { items, nextCursor };
        });
    },
    async headerParameters(name, ctx) {
      if (!(await shows(name, ctx))) return [];
      const tool = byName.get(name);
      if (tool !== undefined) return (await compile(tool, ctx))?.headers ?? [];
      return (await routes.find(name)?.headerParameters?.(name, ctx)) ?? [];
    },
    watch: (onChange, ctx) => routes.watch(onChange, ctx),
  };
}

async function compileTool(tool: Tool): Promise<CompiledTool> {
  const input = await compileSchema(tool.inputSchema);
  const output = tool.outputSchema === undefined ? undefined : await compileSchema(tool.outputSchema);
  const { name, title, description, icons, annotations, _meta } = tool;
  const described: ToolDescription = {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons !== undefined && { icons }),
    inputSchema: input.json,
    ...(output !== undefined && { outputSchema: output.json }),
    ...(annotations !== undefined && { annotations }),
    ...(_meta !== undefined && { _meta }),
  };
  return { tool, input, output, description: described, headers: headerParametersOf(input.json) };
}

async function run(
  { tool, input, output }: CompiledTool,
  args: unknown,
  invocation: Invocation,
): Promise<CallToolResult | InputRequired> {
  const checked = await input.check(args ?? {});
  if (!checked.ok) return failure(`The arguments of ${tool.name} are not valid: ${checked.problem}`);
  let result: CallToolResult | InputRequired;
  try {
    result = resultOf(await withRoots(invocation, async (rooted) => tool.run(checked.value as never, rooted)));
  } catch (error) {
    return failureOf(error, tool.name, invocation);
  }
  if (isInputRequired(result) || result.isError || output === undefined) return result;
  const given = await output.check(result.structuredContent);
  if (given.ok) return result;
  invocation.log.error('a tool broke its output schema', {
    tool: tool.name,
    requestId: invocation.requestId,
    problem: given.problem,
  });
  return failure(
    `${tool.name} gave a result that it does not promise; the server log has more under ${invocation.requestId}`,
  );
}

function resultOf(outcome: ToolOutcome): CallToolResult | InputRequired {
  if (typeof outcome === 'string') return { content: [text(outcome)] };
  return isInputRequired(outcome) ? outcome : sendableResult(outcome);
}

/** A result that tells a model what went wrong and how to do better. */
export function failure(message: string): CallToolResult {
  return { content: [text(scrub(message))], isError: true };
}

function failureOf(error: unknown, tool: string, ctx: Context): CallToolResult {
  const expected = error instanceof ResourceError && error.code !== 'internal';
  ctx.log[expected ? 'debug' : 'error']('a tool failed', { tool, requestId: ctx.requestId, error });
  if (!expected) return failure(`${tool} failed; the server log has the cause under ${ctx.requestId}`);
  const where = error.uri === undefined ? '' : ` (${error.uri})`;
  return failure(`${error.message}${where}`);
}
