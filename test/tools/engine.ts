/** An engine in this process, and its resource tools called as a registry calls them. */
import { type Context, createContext } from '../../src/core/context.ts';
import { detached } from '../../src/core/invocation.ts';
import type { Mount } from '../../src/core/mounts/mount.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import type { CallToolResult, ContentBlock, ToolDescription } from '../../src/protocol/content.ts';
import { isInputRequired } from '../../src/protocol/input-required.ts';
import type { Resource, ResourceContents } from '../../src/protocol/resources.ts';
import { isTaskStarted } from '../../src/protocol/tasks.ts';
import { type MemoryProvider, type MemoryResource, memoryProvider } from '../../src/providers/memory/index.ts';
import { createVitrine, type Vitrine, type VitrineOptions } from '../../src/vitrine.ts';

export interface Engine extends AsyncDisposable {
  readonly vitrine: Vitrine;
  /** Calls a tool; a failure is returned like any result. */
  call(tool: string, args?: Record<string, unknown>, ctx?: Partial<Context>): Promise<CallToolResult>;
  /** The text of a failure; fails when the tool succeeds. */
  refusal(tool: string, args?: Record<string, unknown>): Promise<string>;
}

export interface EngineOptions extends Omit<VitrineOptions, 'mounts'> {
  readonly bare?: Readonly<Record<string, ResourceProvider>>;
}

/** @param bare providers that are mounted without a prefix */
export function engineOf(
  mounts: Readonly<Record<string, ResourceProvider>>,
  { bare = {}, ...options }: EngineOptions = {},
): Engine {
  const named = Object.entries(mounts).map(([name, provider]) => ({ name, provider }));
  const unnamed = Object.entries(bare).map(([name, provider]): Mount => ({ name, provider, prefix: 'none' }));
  const vitrine = createVitrine({ mounts: [...named, ...unnamed], ...options });
  const call: Engine['call'] = async (tool, args = {}, ctx = {}) => {
    const request = { name: tool, arguments: args };
    const result = await vitrine.provider.callTool(request, vitrine.tools.ownerOf(tool), detached(createContext(ctx)));
    if (isInputRequired(result)) throw new Error(`${tool} asks the client`);
    if (isTaskStarted(result)) throw new Error(`${tool} has become a task`);
    return result;
  };
  return {
    vitrine,
    call,
    async refusal(tool, args) {
      const result = await call(tool, args);
      if (!result.isError) throw new Error(`${tool} succeeded: ${textOf(result).slice(0, 500)}`);
      return textOf(result);
    },
    [Symbol.asyncDispose]: () => vitrine.close(),
  };
}

/** An engine with one mount, `m`, of resources in memory: their URIs begin with `m+memory:///`. */
export function memoryEngine(
  resources: Readonly<Record<string, MemoryResource>>,
  options: EngineOptions = {},
): Engine & { readonly memory: MemoryProvider } {
  const memory = memoryProvider({ name: 'm', resources });
  return { ...engineOf({ m: memory }, options), memory };
}

/** All text blocks, one after the other. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');

/** The embedded resources. */
export const embeddedIn = ({ content }: CallToolResult): readonly ResourceContents[] =>
  content.flatMap((block) => (block.type === 'resource' ? [block.resource] : []));

export const typesOf = ({ content }: CallToolResult): readonly ContentBlock['type'][] =>
  content.map((block) => block.type);

/** `structuredContent` of a window. */
export interface WindowAnswer {
  readonly window: { readonly start_offset: number; readonly max_bytes: number };
  readonly parts: readonly {
    readonly kind: 'text' | 'base64';
    readonly text?: string;
    readonly base64?: string;
    readonly uri?: string;
    readonly mime?: string;
    readonly total_bytes?: number;
    readonly bytes_returned: number;
  }[];
  readonly total_parts: number;
}

/** `structuredContent` of a list. */
export interface ListAnswer {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
  readonly truncatedBy?: string;
}

export const structured = <T>({ structuredContent }: CallToolResult): T => structuredContent as T;

/** The bytes of a part, whichever form they have. */
export function bytesOfPart(part: WindowAnswer['parts'][number]): Buffer {
  return part.kind === 'text' ? Buffer.from(part.text ?? '', 'utf8') : Buffer.from(part.base64 ?? '', 'base64');
}

/**
 * Follows windows to the end by what the answers say, and checks each on the way: it is within its limit, ends between
 * characters, and decodes on its own.
 */
export async function followWindows(
  call: (args: Record<string, unknown>) => Promise<CallToolResult>,
  uri: string,
  maxBytes: number | undefined,
): Promise<{ readonly bytes: Buffer; readonly windows: readonly WindowAnswer[] }> {
  const collected: Buffer[] = [];
  const windows: WindowAnswer[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const result: CallToolResult = await call({
      uri,
      as: 'window',
      start_offset: offset,
      ...(maxBytes !== undefined && { max_bytes: maxBytes }),
    });
    if (result.isError) throw new Error(textOf(result));
    const answer = structured<WindowAnswer>(result);
    const bytes = Buffer.concat(answer.parts.map(bytesOfPart));
    const returned = answer.parts.reduce((sum, part) => sum + part.bytes_returned, 0);
    if (answer.window.start_offset !== offset)
      throw new Error(`asked for ${offset}, got ${answer.window.start_offset}`);
    if (bytes.byteLength !== returned) throw new Error(`${returned} bytes are said, and ${bytes.byteLength} there`);
    if (returned > answer.window.max_bytes) throw new Error('the window is longer than it may be');
    collected.push(bytes);
    windows.push(answer);
    if (windows.length > 20_000) throw new Error('the windows do not end');
    const next = nextOffset(result);
    if (next !== undefined && next !== offset + returned) throw new Error(`${offset} + ${returned} goes on at ${next}`);
    if (next === offset) throw new Error(`the window at ${offset} is empty, and not the last`);
    offset = next;
  }
  return { bytes: Buffer.concat(collected), windows };
}

/** Gives the offset of the next window, by the text of this one. */
export function nextOffset(result: CallToolResult): number | undefined {
  const found = /Next window: \S+ \{.*"start_offset":(\d+)/.exec(textOf(result))?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The descriptions of all tools. */
export async function toolsOf(vitrine: Vitrine): Promise<readonly ToolDescription[]> {
  const { items } = await vitrine.provider.listTools({ limit: 1_000 }, createContext());
  return items.map(({ described }) => described);
}
