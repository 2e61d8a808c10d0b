/** All tools of a server: its own, whose arguments and results are checked here, and those of mounted servers. */

import { isAsked } from '../../core/asking/needed.ts';
import { sendableResult } from '../../core/content-blocks.ts';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import { type ListSource, pageAcross } from '../../core/lists/across.ts';
import { fillPage } from '../../core/lists/filtered-list.ts';
import type { NamedRequest } from '../../core/mounts/mounted-server.ts';
import type { PublishedServer } from '../../core/mounts/published-server.ts';
import type { Named, NamedOperations, Owner } from '../../core/operations.ts';
import { type HeaderParameter, headerParametersOf } from '../../core/schema/header-parameters.ts';
import { type CompiledSchema, compileSchema } from '../../core/schema/schema.ts';
import { scrub } from '../../core/text/scrub.ts';
import { noSuchTool, type Tool, type ToolOutcome } from '../../core/tool.ts';
import { type CallToolResult, type ToolDescription, text } from '../../protocol/content.ts';
import { type InputRequired, isInputRequired } from '../../protocol/input-required.ts';
import { pageOf } from '../page.ts';
import { createServerRoutes, type ListOf } from '../server-routes.ts';

/** Lists and calls tools. The layers wrap these operations: no other code calls them directly. */
export interface ToolRegistry
  extends Required<Pick<NamedOperations, 'listTools' | 'callTool' | 'callToolAgain' | 'headerParameters'>> {
  /** Whether there can be tools now. */
  readonly some: boolean;
  /** Whether the list can change. */
  readonly watchable: boolean;
  /** Whether a call may send the client log messages: the resource tools send none. */
  readonly logging: boolean;
  /** The owner of the tool with this name, or the owner that it would have if it existed. */
  ownerOf(name: string): Owner;
  /** Calls `onChange` when the list may have changed. */
  watch(onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

/** The resource tools of this server. */
export interface OwnResourceTools {
  /** Tools that only access resources, each of which is decided about on its own. */
  readonly names: ReadonlySet<string>;
  /** The members of a kept result in JSON, if the call would give the same result now; else undefined. */
  readonly again: (request: NamedRequest, ctx: Context) => string | undefined;
}

interface CompiledTool {
  readonly tool: Tool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly description: ToolDescription;
  readonly headers: readonly HeaderParameter[];
}

const listOf: ListOf<ToolDescription> = async (server, page, ctx) => {
  const { tools: items, nextCursor } = await server.listTools(page, ctx);
  return { items, nextCursor };
};

/**
 * Lists own tools first, in the order they were given.
 * @param resourceTools default: none of the tools is a resource tool
 * @throws TypeError when two tools have one name
 * @throws ResourceError `invalid` when it would be ambiguous which server a name belongs to
 */
export function createToolRegistry(
  tools: readonly Tool[],
  servers: readonly PublishedServer[] = [],
  resourceTools: OwnResourceTools = { names: new Set(), again: () => undefined },
): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new TypeError(`Two tools are named "${tool.name}"; rename one, or set a prefix for the resource tools`);
    byName.set(tool.name, tool);
  }
  const routes = createServerRoutes('tools', servers, [...byName.keys()]);
  const compiled = new Map<string, Promise<CompiledTool | undefined>>();
  /** Compiles the schemas of a tool. A tool with invalid schemas is left out; the others are served. */
  const compile = (tool: Tool, { log }: Context): Promise<CompiledTool | undefined> => {
    const pending =
      compiled.get(tool.name) ??
      compileTool(tool).catch((error: unknown) => {
        log.error('a tool is left out: its schemas are not valid', { tool: tool.name, error });
        return undefined;
      });
    compiled.set(tool.name, pending);
    return pending;
  };
  const ownOwner = (name: string): Owner => ({ onlyResources: resourceTools.names.has(name) });
  const own: ListSource<Named<ToolDescription>> = {
    name: '',
    remote: false,
    async list(page, ctx) {
      ctx.notes?.plain();
      const { items, nextCursor } = pageOf([...byName.values()], (tool) => tool.name, page);
      const compiledTools = await Promise.all(items.map((tool) => compile(tool, ctx)));
      const named = compiledTools.flatMap((entry): Named<ToolDescription>[] =>
        entry === undefined || !isOffered(entry.tool, ctx)
          ? []
          : [{ described: entry.description, owner: ownOwner(entry.tool.name) }],
      );
      return { items: named, nextCursor };
    },
  };
  const sources = [...(byName.size > 0 ? [own] : []), ...routes.sources(listOf)];

  return {
    get some() {
      return byName.size > 0 || routes.some;
    },
    get watchable() {
      return routes.watchable;
    },
    get logging() {
      return tools.some(({ name }) => !resourceTools.names.has(name)) || routes.logging;
    },
    ownerOf: (name) => (byName.has(name) ? ownOwner(name) : (routes.ownerOf(name, listOf) ?? ownOwner(name))),
    listTools: (page, ctx) =>
      fillPage(
        (wanted, quietly) => pageAcross(sources, wanted, quietly ? { ...ctx, notes: undefined } : ctx),
        page,
        (tool) => tool,
        ctx,
      ),
    async callTool(request, _owner, invocation) {
      const tool = byName.get(request.name);
      if (tool !== undefined) {
        const compiledTool = await compile(tool, invocation);
        if (compiledTool === undefined) throw noSuchTool(request.name);
        return run(compiledTool, request.arguments, invocation);
      }
      const server = routes.find(request.name);
      if (server !== undefined) return server.callTool(request, invocation);
      throw noSuchTool(request.name);
    },
    callToolAgain: (request, _owner, ctx) =>
      resourceTools.names.has(request.name) ? resourceTools.again(request, ctx) : undefined,
    async headerParameters(name, _owner, ctx) {
      const tool = byName.get(name);
      if (tool !== undefined) return (await compile(tool, ctx))?.headers ?? [];
      return (await routes.find(name)?.headerParameters?.(name, ctx)) ?? [];
    },
    watch: (onChange, ctx) => routes.watch(onChange, ctx),
  };
}

/** Whether a tool is listed for the client. A request without a client, as of the explorer, lists every tool. */
const isOffered = ({ offeredTo }: Tool, { client }: Context): boolean =>
  offeredTo === undefined || client === undefined || offeredTo(client);

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
    result = resultOf(await tool.run(checked.value as never, invocation));
  } catch (error) {
    if (isAsked(error, invocation)) throw error;
    return failureOf(error, tool.name, invocation);
  }
  if (isInputRequired(result) || result.isError || output === undefined) return result;
  const checkedOutput = await output.check(result.structuredContent);
  if (checkedOutput.ok) return result;
  invocation.log.error('a tool broke its output schema', {
    tool: tool.name,
    requestId: invocation.requestId,
    problem: checkedOutput.problem,
  });
  return failure(
    `${tool.name} gave a result that breaks its output schema; the server log has more under ${invocation.requestId}`,
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
