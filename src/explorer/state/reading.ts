/** Reads the resource on the page: images, sound and films as a whole, everything else in a window. */
import { essenceOf, textFirst } from '../../core/formats/formats.ts';
import { lineUri } from '../../frontends/resources/line-uri.ts';
import { ACCEPT_META_KEY, RANGE_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { type ContentsWindow, windowIn } from '../../protocol/window.ts';
import type { Client } from '../client/client.ts';
import { Refusal } from '../client/refusal.ts';
import { type Look, lookOf } from '../previews/looks.ts';
import type { View } from './place.ts';

/** The bytes of a window of text. */
export const TEXT_BYTES = 64 * 1024;

/** The bytes of a window in hexadecimal. */
export const HEX_BYTES = 4 * 1024;

/** The bytes of the window for Markdown, tables and trees. A larger tree is shown as text. */
const DRAWN_BYTES = 1024 * 1024;

/** The most bytes of an image, a sound or a film. Larger ones can only be saved. */
const MEDIA_BYTES = 24 * 1024 * 1024;

/** The bytes that one request for media asks for. */
const PART_BYTES = 1024 * 1024;

/** A log or another text that grows at its end is shown from its end if it has more bytes than this. */
const LONG_BYTES = 256 * 1024;

/** A resource with the contents that were read. */
export interface Thing {
  readonly resource: Resource;
  readonly item: ResourceContents;
  /** The MIME type of the contents, without parameters and in lower case. */
  readonly type: string;
  readonly look: Look;
  /** Undefined if the contents are bytes. */
  readonly text: string | undefined;
  /** Undefined if the contents are text. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /** The part that was read; undefined if it is the whole. */
  readonly window: ContentsWindow | undefined;
}

/** Makes a thing of a text from the server that is no resource, so that a preview can draw it. */
export const madeThing = (text: string, mimeType: string): Thing => ({
  resource: { uri: '', name: '' },
  item: { uri: '', name: '', mimeType, text },
  type: mimeType,
  look: lookOf(mimeType, undefined),
  text,
  bytes: undefined,
  window: undefined,
});

/** Whether a text grows at its end, like a log, so that its end is shown first. */
const growsAtItsEnd = ({ uri, mimeType }: Resource): boolean =>
  /\.(?:log|jsonl|ndjson)$/i.test(uri) || /\b(?:x-log|jsonl|x-ndjson)\b/.test(mimeType ?? '');

/** Reads the part of a resource that a view shows. @throws Refusal if the read fails or the media is too large */
export async function readThing(client: Client, resource: Resource, view: View, signal: AbortSignal): Promise<Thing> {
  const accept = view.as === undefined ? textFirst(resource) : [view.as];
  const type = essenceOf(accept?.[0] ?? resource.mimeType);
  const look = lookOf(type, view.show);
  const size = accept === undefined ? resource.size : undefined;
  const lines = /^([1-9]\d{0,9})-([1-9]\d{0,9})$/.exec(view.lines ?? '');
  if (lines !== null && view.show === undefined) {
    const uri = lineUri(resource.uri, { first: Number(lines[1]), last: Number(lines[2]) });
    return thingOf(resource, await read(client, uri, undefined, accept, signal), 'text');
  }
  if (look === 'image' || look === 'audio' || look === 'video') {
    if (size !== undefined && size > MEDIA_BYTES) throw new Refusal('too-large', '');
    return await readWhole(client, resource, look, accept, signal);
  }
  const length = look === 'hex' ? HEX_BYTES : look === 'text' ? TEXT_BYTES : DRAWN_BYTES;
  const atEnd = view.from === 'end' || (view.from === undefined && growsAtItsEnd(resource) && (size ?? 0) > LONG_BYTES);
  const offset = atEnd ? Math.max(0, (size ?? 0) - length) : Number(/^\d{1,15}$/.exec(view.from ?? '')?.[0] ?? 0);
  const readFrom = async (start: number): Promise<Thing> =>
    thingOf(resource, await read(client, resource.uri, { offset: start, length }, accept, signal), look);
  const first = await readFrom(offset);
  // If the size was not known, for example that of another format, the first window tells where the end is.
  const total = size === undefined && atEnd ? (first.window?.total ?? 0) : 0;
  const thing = total > length ? await readFrom(total - length) : first;
  // A tree can only be drawn from the whole, so a part is shown as text.
  return thing.window !== undefined && look === 'tree' ? { ...thing, look: 'text' } : thing;
}

type Range = { readonly offset: number; readonly length: number } | undefined;

async function read(
  client: Client,
  uri: string,
  range: Range,
  accept: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<ResourceContents> {
  const _meta = {
    ...(range !== undefined && { [RANGE_META_KEY]: range }),
    ...(accept !== undefined && { [ACCEPT_META_KEY]: accept }),
  };
  const { contents } = await client.request<{ readonly contents?: readonly ResourceContents[] }>(
    'resources/read',
    { uri, _meta },
    signal,
  );
  const item = contents?.[0];
  if (item === undefined) throw new Refusal('denied', '');
  return item;
}

function thingOf(resource: Resource, item: ResourceContents, look: Look): Thing {
  const text = 'text' in item && typeof item.text === 'string' ? item.text : undefined;
  const bytes = 'blob' in item && typeof item.blob === 'string' ? bytesOf(item.blob) : undefined;
  const type = essenceOf(item.mimeType);
  const isPicture = look === 'image' || look === 'audio' || look === 'video';
  const fits = text === undefined ? look === 'hex' || isPicture : true;
  return { resource, item, type, look: fits ? look : 'hex', text, bytes, window: partOf(item) };
}

/** Returns the window of an item that is less than the whole. */
function partOf(item: ResourceContents): ContentsWindow | undefined {
  const window = windowIn(item);
  return window?.offset === 0 && window.length === window.total ? undefined : window;
}

async function readWhole(
  client: Client,
  resource: Resource,
  look: Look,
  accept: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Thing> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let first: Thing | undefined;
  let length = 0;
  for (;;) {
    const range = { offset: length, length: PART_BYTES };
    const part = thingOf(resource, await read(client, resource.uri, range, accept, signal), look);
    first ??= part;
    const bytes = part.bytes ?? new TextEncoder().encode(part.text ?? '');
    parts.push(bytes);
    length += bytes.byteLength;
    if (length > MEDIA_BYTES) throw new Refusal('too-large', '');
    if (part.window === undefined || bytes.byteLength === 0 || length === part.window.total) break;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return { ...first, look, bytes: all, window: undefined };
}

/** Decodes base64; returns no bytes if it is invalid. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
