/** Measures the content blocks of a server's messages, checks the types of their media, and makes them safe to show. */
import { base64Size, utf8Size } from '../base64.ts';
import { checkContents } from '../safety/contents.ts';
import { forTerminal } from '../safety/terminal.ts';
import type { Decisions } from './decisions.ts';

export type Block = { readonly type: string; readonly [field: string]: unknown };

/** Returns the blocks of a message, which may have one or several. A value that is not a block becomes one of the type `unknown`. */
export function blocksOf(content: unknown): readonly Block[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (typeof block === 'object' && block !== null ? (block as Block) : { type: 'unknown' }));
}

/** Returns the media of an image or a sound. The `data` of any other kind of block does not count as media. */
const mediaOf = ({ type, data }: Block): string | undefined =>
  (type === 'image' || type === 'audio') && typeof data === 'string' ? data : undefined;

/** Returns the bytes of a block after decoding. A block that is neither text nor media is measured as JSON. */
export function sizeOf(block: Block): number {
  if (block.type === 'text' && typeof block.text === 'string') return utf8Size(block.text);
  const media = mediaOf(block);
  return media === undefined ? utf8Size(JSON.stringify(block)) : base64Size(media);
}

/** Refuses an image or a sound whose bytes are of another type than the block claims. */
export async function checkMedia(block: Block, maxBytes: number, decisions: Decisions): Promise<void> {
  const { data, mimeType } = block as { readonly data?: string; readonly mimeType?: string };
  const checked = await checkContents({ data, mimeType }, { maxBytes }).catch(() => undefined);
  const family = `${block.type}/`;
  if (checked === undefined || checked.problems.length > 0 || checked.mimeType?.startsWith(family) !== true) {
    decisions.refuse('content-type', { invalid: true });
  }
}

/** Returns a block as text to show, without escapes and hidden characters. Media become their kind and size. */
export function shownBlock(block: Block): string {
  const shown = (text: string): string => forTerminal(text, { lines: true });
  if (block.type === 'text' && typeof block.text === 'string') return shown(block.text);
  const media = mediaOf(block);
  if (media !== undefined) return `[${block.type}, ${base64Size(media)} bytes]`;
  return `[${forTerminal(block.type)}: ${shown(JSON.stringify(block))}]`;
}
