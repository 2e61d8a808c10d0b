/** Declares tools, which a model can call. Vitrine's own tools and those of a program that uses it have the same shape. */
import type { CallToolResult, ToolAnnotations } from '../protocol/content.ts';
import type { InputRequired } from '../protocol/input-required.ts';
import type { Icon } from '../protocol/resources.ts';
import type { ClientFeatures } from './context.ts';
import { invalid, type ResourceError } from './errors.ts';
import type { Invocation } from './invocation.ts';
import type { OutputOf, Schema } from './schema/schema.ts';

export interface Tool {
  /** ASCII letters, digits, `_`, `-` and `.`; at most 128. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** Arguments are checked against this schema before `run` (SEC-TOOL-1). */
  readonly inputSchema: Schema;
  /** `structuredContent` is checked against this schema before it is sent. */
  readonly outputSchema?: Schema | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the tool is listed for a client with these features. Default: yes. Calls are accepted either way. */
  readonly offeredTo?: ((client: ClientFeatures) => boolean) | undefined;
  /** Runs the tool with checked arguments. An error that it throws becomes an `isError` result without internals. */
  readonly run: (args: never, invocation: Invocation) => ToolOutcome | Promise<ToolOutcome>;
}

export type ToolOutcome = CallToolResult | InputRequired | string;

/** A tool whose `run` gets arguments of the type that its schema declares. */
export interface ToolDefinition<S extends Schema> extends Omit<Tool, 'inputSchema' | 'run'> {
  readonly inputSchema: S;
  /** A plain string is sent as one text block. */
  readonly run: (args: OutputOf<S>, invocation: Invocation) => ToolOutcome | Promise<ToolOutcome>;
}

const TOOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Defines a tool.
 * @throws TypeError for a name that hosts would refuse
 * @example
 * const roll = defineTool({
 *   name: 'roll',
 *   description: 'Rolls a die',
 *   inputSchema: z.object({ sides: z.number().int().min(2) }),
 *   run: ({ sides }) => `${1 + Math.floor(Math.random() * sides)}`,
 * });
 */
export function defineTool<const S extends Schema>(definition: ToolDefinition<S>): Tool {
  if (!TOOL_NAME.test(definition.name)) {
    throw new TypeError(
      `A tool name has 1 to 128 letters, digits, "_", "-" or ".": ${JSON.stringify(definition.name)}`,
    );
  }
  return definition as Tool;
}

/** The error for a tool that does not exist, and for one that the caller must not know of. */
export const noSuchTool = (name: string): ResourceError =>
  invalid(`There is no tool named ${JSON.stringify(name)}; tools/list has them`);
