/**
 * Lists the definitions of a server's tools with all their fields, and without a cache. Leaves out definitions without a usable
 * name, and refuses a list that is too long.
 */
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import type { Decisions } from './decisions.ts';

/** A tool as the server defines it, with every field. */
export type ToolDefinition = Readonly<Record<string, unknown>> & { readonly name: string };

/** The most tools and pages of a list. A longer list is refused. */
const MAX_TOOLS = 2_000;
const MAX_PAGES = 100;

/** The most UTF-16 units of a cursor that is sent back. */
const MAX_CURSOR = 65_536;

type Data = Readonly<Record<string, unknown>>;

/** Takes a result as it is on the wire. The SDK's schema would drop unknown fields, and a change in them would not be seen. */
const WHOLE = {
  '~standard': {
    version: 1 as const,
    vendor: 'vitrine',
    validate: (value: unknown) =>
      typeof value === 'object' && value !== null
        ? { value: value as Data }
        : { issues: [{ message: 'The result of tools/list is not an object' }] },
  },
};

/**
 * Returns the definitions on all pages of the list.
 * @throws GuardRefusal `too-many-tools`, `list-malformed` or `cursor-loop`; `not-recorded` if the refusal cannot be reported
 */
export async function listDefinitions(
  client: Client,
  decisions: Decisions,
  options: RequestOptions | undefined,
): Promise<readonly ToolDefinition[]> {
  const found: ToolDefinition[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = (await client.request({ method: 'tools/list', params }, WHOLE, options)) as Data;
    const tools: readonly unknown[] = Array.isArray(result.tools) ? result.tools : decisions.refuse('list-malformed');
    const definitions = tools.filter(isDefinition);
    if (found.length + definitions.length > MAX_TOOLS) return decisions.refuse('too-many-tools');
    found.push(...definitions);
    const { nextCursor } = result;
    if (typeof nextCursor !== 'string') return found;
    if (cursors.has(nextCursor)) return decisions.refuse('cursor-loop');
    if (nextCursor.length > MAX_CURSOR) return decisions.refuse('list-malformed');
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  return decisions.refuse('too-many-tools');
}

const isDefinition = (tool: unknown): tool is ToolDefinition =>
  typeof tool === 'object' &&
  tool !== null &&
  'name' in tool &&
  typeof tool.name === 'string' &&
  tool.name.length <= 1_000;
