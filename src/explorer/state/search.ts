/** Searches all mounts with the tool that every client has, so that nothing is found that such a client would not find. */
import { anyCase } from '../../frontends/explorer/search-address.ts';
import type { CallToolResult, ContentBlock, ToolDescription } from '../../protocol/content.ts';
import type { Client, Data } from '../client/client.ts';

export interface Found {
  readonly names: readonly ContentBlock[];
  readonly texts: readonly ContentBlock[];
  /** The words of the tool where it failed. */
  readonly said?: string | undefined;
  /** The arguments of the next page; undefined where that is all. */
  readonly next?: Data | undefined;
}

/** The most resources that are shown because of their names. */
const MAX_NAMES = 12;

/** Lines around each match. */
const LINES = 1;

/** Words that can be a part of a glob as they are. */
const NAME = /^[\p{L}\p{N} ._-]+$/u;

/** The tool that searches, by its parameters; undefined where there is none. */
export const searchToolOf = (tools: readonly ToolDescription[]): ToolDescription | undefined =>
  tools.find(({ name, inputSchema }) => {
    const { properties } = inputSchema;
    const has = typeof properties === 'object' && properties !== null ? properties : {};
    return /(?:^|[_.-])search$/.test(name) && 'pattern' in has && 'glob' in has;
  });

/** @param next the arguments of a further page @throws Refusal */
export async function search(
  client: Client,
  tool: ToolDescription,
  words: string,
  next: Data | undefined,
  signal: AbortSignal,
): Promise<Found> {
  const call = async (args: Data): Promise<Page> => {
    const params = { name: tool.name, arguments: args };
    return { args, result: await client.request<CallToolResult>('tools/call', params, signal) };
  };
  const isRanked = 'mode' in ((tool.inputSchema.properties ?? {}) as object);
  const plain = { pattern: `(?i)${words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`, context: LINES };
  const texts = async (): Promise<Page> => {
    if (next !== undefined) return await call(next);
    if (!isRanked) return await call(plain);
    const ranked = await call({ pattern: words, mode: 'ranked', context: LINES });
    return ranked.result.isError === true ? await call(plain) : ranked;
  };
  const isNamed = next === undefined && NAME.test(words);
  const names = isNamed ? call({ glob: `*${anyCase(words)}*` }).catch(() => undefined) : undefined;
  const [{ args, result }, named] = await Promise.all([texts(), names]);
  const failed = result.isError === true;
  const said = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  const { nextCursor: cursor } = (result.structuredContent ?? {}) as { readonly nextCursor?: unknown };
  return {
    names: (named?.result.isError === true ? [] : (named?.result.content ?? []))
      .filter(({ type }) => type === 'resource_link')
      .slice(0, MAX_NAMES),
    texts: failed ? [] : result.content.filter(({ type }) => type !== 'text'),
    said: failed ? said : undefined,
    next: typeof cursor === 'string' ? { ...args, cursor } : undefined,
  };
}

interface Page {
  readonly args: Data;
  readonly result: CallToolResult;
}
