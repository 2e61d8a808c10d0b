/** Makes contents the blocks of a tool result: embedded with their URI, or plain (CB-4, CB-5). */

import { type ContentBlock, text } from '../../../protocol/content.ts';
import { WINDOW_META_KEY } from '../../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../../protocol/resources.ts';
import { windowIn } from '../../../protocol/window.ts';
import { base64Length, bytesText, kindText, oneLine, tokensOf } from '../facts.ts';
import type { Part, Window } from './window.ts';

/** `fitting` shows images and sounds as such, and embeds everything else. */
export type BlockForm = 'fitting' | 'embedded' | 'plain';

export interface BlockOptions {
  readonly form: BlockForm;
  /** Whether the item is one of several: then a plain block needs a headline, too. */
  readonly named?: boolean | undefined;
  /** A line for the headline that says how to read on. */
  readonly note?: string | undefined;
}

/** The blocks of one item: a headline, unless the item is plain and the only one, and the content. */
export function blocksOf(item: ResourceContents, { form, named, note }: BlockOptions): ContentBlock[] {
  const media = form === 'embedded' ? undefined : mediaOf(item);
  if (form === 'plain' && media === undefined && 'blob' in item) return [placeholder(item)];
  const content = media ?? (form === 'plain' && 'text' in item ? text(item.text) : embedded(item));
  return form === 'plain' && !named ? [content] : [headline(item, note), content];
}

const embedded = (resource: ResourceContents): ContentBlock => ({ type: 'resource', resource });

/** Stands for binary content, which no plain block can hold. */
const placeholder = (item: ResourceContents): ContentBlock =>
  text(
    `${oneLine(item.uri)}\n${factsOf(item)}: binary content, which has no plain form; read it embedded or in windows.`,
  );

/** A block with a whole image or sound; undefined for a part of one, an empty one, and anything else. */
function mediaOf(item: ResourceContents): ContentBlock | undefined {
  const { mimeType, annotations } = item;
  if (!('blob' in item) || item.blob === '' || windowIn(item) !== undefined) return undefined;
  if (mimeType === undefined || !isMediaType(mimeType)) return undefined;
  const type = mimeType.startsWith('image/') ? 'image' : 'audio';
  return { type, data: item.blob, mimeType, ...(annotations !== undefined && { annotations }) };
}

export const isMediaType = (mimeType: string | undefined): boolean =>
  mimeType !== undefined && /^(?:image\/(?!svg\+xml)|audio\/)/i.test(mimeType);

/** A block before the content with URI, type, size and cost, for hosts that do not show the metadata of embedded resources. */
function headline(item: ResourceContents, note: string | undefined): ContentBlock {
  const cost = mediaOf(item) === undefined ? `, about ${costOf(item)} tokens` : '';
  return text(`${oneLine(item.uri)}\n${factsOf(item)}${cost}${note === undefined ? '' : `\n${note}`}`);
}

const factsOf = (item: ResourceContents): string => oneLine(`${kindText(item)}, ${bytesText(bytesOf(item))}`);

const costOf = (item: ResourceContents): number => tokensOf('text' in item ? 'text' : 'base64', bytesOf(item));

const bytesOf = (item: ResourceContents): number =>
  'text' in item ? Buffer.byteLength(item.text) : Buffer.byteLength(item.blob, 'base64');

/** Bytes of an item as a model gets it: as text or base64. */
export const encodedSize = (item: ResourceContents): number =>
  'text' in item ? Buffer.byteLength(item.text) : base64Length(bytesOf(item));

/** Makes an item of a window of one part. `_meta` says where the window lies, unless it is the whole part. */
export function itemOf({ resource, kind, bytes, total }: Part, { start }: Window): ResourceContents {
  const window = { offset: start, length: bytes.byteLength, ...(total !== undefined && { total }) };
  const whole = start === 0 && bytes.byteLength === total;
  const placed: Resource = whole ? resource : { ...resource, _meta: { ...resource._meta, [WINDOW_META_KEY]: window } };
  return kind === 'text' ? { ...placed, text: bytes.toString('utf8') } : { ...placed, blob: bytes.toString('base64') };
}
