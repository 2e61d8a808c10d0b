/** `tools/list` and `tools/call` over any tools: arguments and results are checked, failures become results. */
import { sendableResult } from '../../core/content-blocks.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { type HeaderParameter, headerParametersOf } from '../../core/header-parameters.ts';
import type { Invocation } from '../../core/invocation.ts';
import { withRoots } from '../../core/roots.ts';
import { type CompiledSchema, compileSchema } from '../../core/schema.ts';
import { scrub } from '../../core/scrub.ts';
import type { Tool, ToolOutcome } from '../../core/tool.ts';
import { type CallToolResult, type ToolDescription, text } from '../../protocol/content.ts';
import { type InputRequired, isInputRequired } from '../../protocol/input-required.ts';

export interface ToolRegistry {
  readonly size: number;
  /** The descriptions, in the order they were given. */
  describe(): Promise<readonly ToolDescription[]>;
  /** @throws ResourceError `invalid` for a tool that is not there; everything else is a result */
  call(name: string, args: unknown, invocation: Invocation): Promise<CallToolResult | InputRequired>;
  /** The arguments that HTTP clients repeat in headers; none for a tool that is not there. */
  headerParameters(name: string): Promise<readonly HeaderParameter[]>;
}

interface CompiledTool {
  readonly tool: Tool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly description: ToolDescription;
  readonly headers: readonly HeaderParameter[];
}

/** @throws TypeError when two tools have one name */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new TypeError(`Two tools are named "${tool.name}"; rename one, or set a prefix for the resource tools`);
    byName.set(tool.name, tool);
  }
  const compiled = new Map<string, Promise<CompiledTool>>();
  const compile = (tool: Tool): Promise<CompiledTool> => {
    const known = compiled.get(tool.name) ?? compileTool(tool);
    compiled.set(tool.name, known);
    return known;
  };

  return {
    size: byName.size,
    describe: async () => (await Promise.all([...byName.values()].map(compile))).map((each) => each.description),
    async call(name, args, invocation) {
      const tool = byName.get(name);
      if (tool === undefined) throw invalid(`There is no tool named ${JSON.stringify(name)}; tools/list has them`);
      return run(await compile(tool), args, invocation);
    },
    async headerParameters(name) {
      const tool = byName.get(name);
      return tool === undefined ? [] : (await compile(tool)).headers;
    },
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
