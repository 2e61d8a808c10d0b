/** Searches all mounts with the tool that every client has, so that nothing is found that such a client would not find. */
import type { CallToolResult, ContentBlock, ToolDescription } from '../../protocol/content.ts';
import type { Client } from '../client/client.ts';

export interface Found {
  readonly names: readonly ContentBlock[];
  readonly texts: readonly ContentBlock[];
  /** The words of the tool where it failed. */
  readonly said?: string | undefined;
}

/** Resources that are shown because of their names. */
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

/** @throws Refusal */
export async function search(
  client: Client,
  tool: ToolDescription,
  words: string,
  signal: AbortSignal,
): Promise<Found> {
  const call = (args: object): Promise<CallToolResult> =>
    client.request<CallToolResult>('tools/call', { name: tool.name, arguments: args }, signal);
  const isRanked = 'mode' in ((tool.inputSchema.properties ?? {}) as object);
  const plain = { pattern: `(?i)${words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`, context: LINES };
  const texts = async (): Promise<CallToolResult> => {
    if (!isRanked) return await call(plain);
    const ranked = await call({ pattern: words, mode: 'ranked', context: LINES });
    return ranked.isError === true ? await call(plain) : ranked;
  };
  const names = NAME.test(words) ? call({ glob: `*${anyCase(words)}*` }).catch(() => undefined) : undefined;
  const [found, named] = await Promise.all([texts(), names]);
  const said = found.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
  return {
    names: (named?.isError === true ? [] : (named?.content ?? []))
      .filter(({ type }) => type === 'resource_link')
      .slice(0, MAX_NAMES),
    texts: found.isError === true ? [] : found.content.filter(({ type }) => type !== 'text'),
    said: found.isError === true ? said : undefined,
  };
}

const anyCase = (words: string): string =>
  words.replace(/\p{L}/gu, (letter) => {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    return both.size === 2 && [...both].every((each) => [...each].length === 1) ? `[${[...both].join('')}]` : letter;
  });
