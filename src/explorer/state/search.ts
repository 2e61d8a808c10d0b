/** Searches all mounts with the same tool that other clients use, so that it finds exactly what they find. */

import { anyCase } from '../../core/glob/any-case.ts';
import { notSearched } from '../../frontends/explorer/not-searched.ts';
import type { CallToolResult, ContentBlock, ToolDescription } from '../../protocol/content.ts';
import type { Client, Data } from '../client/client.ts';

export interface Found {
  readonly names: readonly ContentBlock[];
  readonly texts: readonly ContentBlock[];
  /** The message of the tool if it failed. */
  readonly message?: string | undefined;
  /** Says what was not searched; undefined if everything was. */
  readonly notSearched?: string | undefined;
  /** The arguments for the next page; undefined on the last page. */
  readonly next?: Data | undefined;
}

/** The most resources that are shown because their names match. */
const MAX_NAMES = 12;

/** The number of lines shown before and after each match. */
const LINES = 1;

/** Matches words that can be part of a glob without quoting. */
const NAME = /^[\p{L}\p{N} ._-]+$/u;

/** Finds the tool that searches, by its name and parameters; undefined if there is none. */
export const searchToolOf = (tools: readonly ToolDescription[]): ToolDescription | undefined =>
  tools.find(({ name, inputSchema }) => {
    const { properties } = inputSchema;
    const parameters = typeof properties === 'object' && properties !== null ? properties : {};
    return /(?:^|[_.-])search$/.test(name) && 'pattern' in parameters && 'glob' in parameters;
  });

/** Searches for words. @param next the arguments for a further page; undefined for the first @throws Refusal if a request fails */
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
  const message = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  const { nextCursor: cursor } = (result.structuredContent ?? {}) as { readonly nextCursor?: unknown };
  return {
    names: (named?.result.isError === true ? [] : (named?.result.content ?? []))
      .filter(({ type }) => type === 'resource_link')
      .slice(0, MAX_NAMES),
    texts: failed ? [] : result.content.filter(({ type }) => type !== 'text'),
    message: failed ? message : undefined,
    notSearched: notSearched(result.structuredContent),
    next: typeof cursor === 'string' ? { ...args, cursor } : undefined,
  };
}

interface Page {
  readonly args: Data;
  readonly result: CallToolResult;
}
