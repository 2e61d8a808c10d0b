/** Reads the thing on the page: whole where that is needed and small enough, in a window otherwise. */
import { essenceOf, textFirst } from '../../core/formats/formats.ts';
import { lineUri } from '../../frontends/resources/line-uri.ts';
import { ACCEPT_META_KEY, RANGE_META_KEY, WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import type { Client } from '../client/client.ts';
import { Refusal } from '../client/refusal.ts';
import { type Look, lookOf } from '../previews/looks.ts';
import type { View } from './place.ts';

/** Bytes of a window of text. */
export const TEXT_BYTES = 64 * 1024;

/** Bytes of a window in hexadecimal. */
export const HEX_BYTES = 4 * 1024;

/** Bytes of what is drawn from the whole, such as a table or a tree; of larger things a window is shown as text. */
const DRAWN_BYTES = 1024 * 1024;

/** Bytes of an image, a sound or a film; larger ones are for saving. */
const MEDIA_BYTES = 24 * 1024 * 1024;

/** Bytes of one request. */
const PART_BYTES = 1024 * 1024;

/** Texts of more bytes than that are read from their end, where their name says that they grow there. */
const LONG_BYTES = 256 * 1024;

export interface Window {
  readonly offset: number;
  readonly length: number;
  /** Bytes of the whole; undefined where the server does not know. */
  readonly total: number | undefined;
}

export interface Thing {
  readonly resource: Resource;
  readonly item: ResourceContents;
  /** Without parameters, in small letters. */
  readonly type: string;
  readonly look: Look;
  /** Undefined of bytes. */
  readonly text: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /** Undefined where this is all. */
  readonly window: Window | undefined;
}

/** A text that the server said, and that is no resource: it is drawn as one that lies nowhere. */
export const madeThing = (text: string, mimeType: string): Thing => ({
  resource: { uri: '', name: '' },
  item: { uri: '', name: '', mimeType, text },
  type: mimeType,
  look: lookOf(mimeType, undefined),
  text,
  bytes: undefined,
  window: undefined,
});

/** Whether a text grows at its end, so that its end is what a reader wants. */
const growsAtItsEnd = ({ uri, mimeType }: Resource): boolean =>
  /\.(?:log|jsonl|ndjson)$/i.test(uri) || /\b(?:x-log|jsonl|x-ndjson)\b/.test(mimeType ?? '');

/** @throws Refusal */
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
  const thing = thingOf(resource, await read(client, resource.uri, { offset, length }, accept, signal), look);
  // Of what only the whole can be drawn, a part is text.
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
  return { resource, item, type, look: fits ? look : 'hex', text, bytes, window: windowOf(item) };
}

function windowOf({ _meta }: ResourceContents): Window | undefined {
  const window = _meta?.[WINDOW_META_KEY] as Partial<Window> | undefined;
  if (typeof window?.offset !== 'number' || typeof window.length !== 'number') return undefined;
  const { offset, length, total } = window;
  return offset === 0 && length === total ? undefined : { offset, length, total };
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
  let got = 0;
  for (;;) {
    const range = { offset: got, length: PART_BYTES };
    const part = thingOf(resource, await read(client, resource.uri, range, accept, signal), look);
    first ??= part;
    const bytes = part.bytes ?? new TextEncoder().encode(part.text ?? '');
    parts.push(bytes);
    got += bytes.byteLength;
    if (got > MEDIA_BYTES) throw new Refusal('too-large', '');
    if (part.window === undefined || bytes.byteLength === 0 || got === part.window.total) break;
  }
  const all = new Uint8Array(got);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return { ...first, look, bytes: all, window: undefined };
}

/** Bytes of base64; none where it is broken. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
