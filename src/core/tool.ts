/** Tools: what a model can call. Vitrine's own and those of whoever builds on it have the same shape. */
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
  /** Arguments are checked against it before `run` (SEC-TOOL-1). */
  readonly inputSchema: Schema;
  /** `structuredContent` is checked against it before it is sent. */
  readonly outputSchema?: Schema | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  /** Whether it is listed for a client that can be asked for this much. Default: it is. Calls are not asked about. */
  readonly offeredTo?: ((client: ClientFeatures) => boolean) | undefined;
  /** Gets checked arguments. What it throws becomes an `isError` result without internals. */
  readonly run: (args: never, invocation: Invocation) => ToolOutcome | Promise<ToolOutcome>;
}

export type ToolOutcome = CallToolResult | InputRequired | string;

/** A tool whose `run` gets the arguments as its schema says they are. */
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

/** The answer to a call of what is not there, or must look like it. */
export const noSuchTool = (name: string): ResourceError =>
  invalid(`There is no tool named ${JSON.stringify(name)}; tools/list has them`);
