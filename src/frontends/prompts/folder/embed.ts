/** Embeds a resource in a prompt: reads it, and makes content blocks of its contents. */
import { audioBlock, imageBlock } from '../../../core/content-blocks.ts';
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { isBetterAsText } from '../../../core/formats/formats.ts';
import type { ContentBlock } from '../../../protocol/content.ts';
import type { ResourceContents } from '../../../protocol/resources.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { readConfirmed } from '../../resources/read.ts';

/** How many bytes and blocks may still be embedded. */
interface Room {
  readonly bytes: number;
  readonly blocks: number;
}

export interface Embedded {
  readonly blocks: readonly ContentBlock[];
  /** Bytes of content, before base64. */
  readonly bytes: number;
}

/** Reads a resource for a prompt. @throws ResourceError errors of the read, and `too-large` if there is no room left */
export async function embedResource(
  uri: string,
  room: Room,
  resources: ResourceOptions,
  ctx: Context,
): Promise<Embedded> {
  if (room.blocks < 1 || room.bytes < 1)
    throw new ResourceError('too-large', 'The prompt embeds too much; use it with smaller resources', { uri });
  const limits = { ...resources.limits, maxReadBytes: room.bytes, maxChildren: room.blocks };
  const { contents } = await readConfirmed({ ...resources, limits }, { uri }, ctx);
  const items = primary(contents);
  return { blocks: items.map(blockOf), bytes: items.reduce((sum, item) => sum + bytesIn(item), 0) };
}

/**
 * Picks the contents to embed. Of a folder, these are its files. Of several formats of one resource, it is the first one, or the
 * text if models cannot use the first one.
 */
function primary(contents: readonly ResourceContents[]): readonly ResourceContents[] {
  const files = contents.filter((item) => item.capabilities?.list !== true);
  const [first] = files;
  if (first === undefined || files.some((item) => item.uri !== first.uri)) return files;
  const isSeen = !isBetterAsText(first.mimeType) && !first.mimeType?.startsWith('video/');
  return [(isSeen ? undefined : files.find((item) => item !== first && 'text' in item)) ?? first];
}

const bytesIn = (item: ResourceContents): number =>
  'text' in item ? Buffer.byteLength(item.text) : Buffer.byteLength(item.blob, 'base64');

/** Makes blocks of images and sounds that a model can see and hear; any other content is embedded with its URI and metadata. */
function blockOf(item: ResourceContents): ContentBlock {
  const { mimeType } = item;
  if ('blob' in item && mimeType !== undefined) {
    const annotated = item.annotations === undefined ? {} : { annotations: item.annotations };
    if (mimeType.startsWith('image/')) return imageBlock(item.blob, mimeType, annotated);
    if (mimeType.startsWith('audio/')) return audioBlock(item.blob, mimeType, annotated);
  }
  return { type: 'resource', resource: item };
}
