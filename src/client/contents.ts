/** One item of a read: its description and its content, which is decoded on demand. */
import { isContinuation } from '../core/text/text.ts';
import { windowIn } from '../protocol/window.ts';
import { base64Size, decodeBase64, utf8Size } from './base64.ts';
import { declaredText, textOf } from './charset.ts';
import { invalidAnswer } from './errors.ts';
import type { Data } from './link.ts';
import { type ListedResource, resourceIn } from './shapes.ts';

/** The window of a content that was sent in part. */
export interface ContentWindow {
  /** The first byte, counted from the start of the content. */
  readonly offset: number;
  /** The number of bytes. */
  readonly length: number;
  /** The bytes of the whole content, where known. */
  readonly total?: number | undefined;
  /** `client` where the server does not support windows: it sends everything, and the client cuts it. */
  readonly cutBy: 'server' | 'client';
}

/** An item of a read. Several callers may share it: do not change it. */
export interface ReadItem {
  /** The server's description, without content. */
  readonly resource: ListedResource;
  /** The item as the server sent it, with every field; also where the client cut the content. */
  readonly contents: Data;
  readonly form: 'text' | 'blob';
  /** The bytes of the content, before base64. Known without decoding it. */
  readonly byteLength: number;
  /** The window of the content that this item holds; undefined if it holds the whole content. */
  readonly window: ContentWindow | undefined;
  /**
   * The content as text: unchanged, or decoded from a `blob` in its declared charset, by default UTF-8; else undefined. The
   * charset is that of `vitrine/charset`, else of the MIME type. Markup in the text comes from the server.
   * @throws ResourceClientError `invalid-answer` for invalid base64
   */
  text(): string | undefined;
  /** The bytes: of a text in UTF-8, or decoded from a blob. @throws ResourceClientError `invalid-answer` for invalid base64 */
  bytes(): Uint8Array<ArrayBuffer>;
}

/** @returns undefined for an invalid item */
export function itemIn(value: unknown, uri: string): ReadItem | undefined {
  const resource = resourceIn(value, uri);
  if (resource === undefined) return undefined;
  const { text, blob, ...own } = resource;
  if (typeof text !== 'string' && typeof blob !== 'string') return undefined;
  const described = own as ListedResource;
  const contents = value as Data;
  const sent = windowIn(described);
  const window: ContentWindow | undefined = sent && { ...sent, cutBy: 'server' };
  return typeof text === 'string'
    ? textItem(described, contents, text, window)
    : blobItem(described, contents, String(blob), window);
}

function textItem(resource: ListedResource, contents: Data, text: string, window: ContentWindow | undefined): ReadItem {
  let size: number | undefined;
  return {
    resource,
    contents,
    form: 'text',
    get byteLength() {
      size ??= utf8Size(text);
      return size;
    },
    window,
    text: () => text,
    bytes: () => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>,
  };
}

function blobItem(resource: ListedResource, contents: Data, blob: string, window: ContentWindow | undefined): ReadItem {
  const bytes = (): Uint8Array<ArrayBuffer> => {
    const decoded = decodeBase64(blob);
    if (decoded === undefined) throw invalidAnswer('The contents are not valid base64', resource.uri);
    return decoded;
  };
  return {
    resource,
    contents,
    form: 'blob',
    byteLength: base64Size(blob),
    window,
    text: () => declaredText(bytes(), resource, window?.offset),
    bytes,
  };
}

/**
 * Returns the item cut to a range of bytes. A text ends between characters, so it may be up to three bytes shorter. If the range
 * begins within a character, the item becomes a blob.
 */
export function cutItem(item: ReadItem, { offset = 0, length }: ByteRange): ReadItem {
  const whole = item.bytes();
  const end = length === undefined ? whole.length : Math.min(whole.length, offset + length);
  const part = whole.slice(Math.min(offset, whole.length), end);
  const begins = item.form === 'text' && !isContinuation(part[0]);
  const cut = begins ? part.slice(0, wholeCharacters(part, end < whole.length)) : part;
  return {
    ...item,
    form: begins ? 'text' : 'blob',
    byteLength: cut.length,
    window: { offset, length: cut.length, total: whole.length, cutBy: 'client' },
    text: () => (item.form === 'text' ? textOf(cut) : declaredText(cut, item.resource, offset)),
    bytes: () => cut.slice(),
  };
}

/** A range of bytes in a content. */
export interface ByteRange {
  /** Default 0. */
  readonly offset?: number | undefined;
  /** At least 1. Default: the rest. */
  readonly length?: number | undefined;
}

/** Returns how many leading bytes form complete characters. @param more whether further bytes follow in the content */
function wholeCharacters(bytes: Uint8Array, more: boolean): number {
  if (!more) return bytes.length;
  let last = bytes.length - 1;
  while (last >= 0 && isContinuation(bytes[last])) last--;
  const lead = bytes[last] ?? 0;
  const needed = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return bytes.length - last >= needed ? bytes.length : Math.max(last, 0);
}
