/** Content blocks of messages that a server wrote: their sizes, whether media are of the type that they claim, and how to show them. */
import { base64Size, utf8Size } from '../base64.ts';
import { checkContents } from '../safety/contents.ts';
import { forTerminal } from '../safety/terminal.ts';
import type { Decisions } from './decisions.ts';

export type Block = { readonly type: string; readonly [field: string]: unknown };

/** The blocks of a message, which may have one block or several; what is no block has the type `unknown`. */
export function blocksOf(content: unknown): readonly Block[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (typeof block === 'object' && block !== null ? (block as Block) : { type: 'unknown' }));
}

/** Returns the media of an image or a sound. A block of another kind may have `data`, too, to pass for one. */
const mediaOf = ({ type, data }: Block): string | undefined =>
  (type === 'image' || type === 'audio') && typeof data === 'string' ? data : undefined;

/** Bytes of a block after decoding; of a kind that is neither text nor media, as JSON. */
export function sizeOf(block: Block): number {
  if (block.type === 'text' && typeof block.text === 'string') return utf8Size(block.text);
  const media = mediaOf(block);
  return media === undefined ? utf8Size(JSON.stringify(block)) : base64Size(media);
}

/** Refuses an image or a sound whose bytes are not of the type that it claims. */
export async function checkMedia(block: Block, maxBytes: number, decisions: Decisions): Promise<void> {
  const { data, mimeType } = block as { readonly data?: string; readonly mimeType?: string };
  const checked = await checkContents({ data, mimeType }, { maxBytes }).catch(() => undefined);
  const family = `${block.type}/`;
  if (checked === undefined || checked.problems.length > 0 || checked.mimeType?.startsWith(family) !== true) {
    decisions.refuse('content-type', { invalid: true });
  }
}

/** A block as text to show, without escapes and hidden characters; of media, the kind and the size. */
export function shownBlock(block: Block): string {
  const shown = (text: string): string => forTerminal(text, { lines: true });
  if (block.type === 'text' && typeof block.text === 'string') return shown(block.text);
  const media = mediaOf(block);
  if (media !== undefined) return `[${block.type}, ${base64Size(media)} bytes]`;
  return `[${forTerminal(block.type)}: ${shown(JSON.stringify(block))}]`;
}
