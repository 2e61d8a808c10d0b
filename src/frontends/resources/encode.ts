/** From a body to an item of `contents`: collected within the budget, then UTF-8 text or base64 (RES-2). */
import { isUtf8 } from 'node:buffer';
import { type BodyWindow, knownSize, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ByteRange } from '../../core/provider.ts';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from '../../core/text.ts';
import { RANGE_META_KEY, WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { type Collected, collectRange } from './collect.ts';

export interface EncodeOptions {
  /** Bytes that may still be taken in this read. */
  readonly budget: number;
  /** The limit that `budget` began with, for the error. */
  readonly limit: number;
  readonly range: ByteRange | undefined;
}

interface Encoded {
  readonly item: ResourceContents;
  readonly bytes: number;
}

export async function encodeBody(body: ResourceBody, options: EncodeOptions, ctx: Context): Promise<Encoded> {
  const { resource } = body;
  // A provider without `ranges` gave the whole: cut here, so that a window means the same everywhere.
  const wanted = body.window === undefined ? options.range : undefined;
  const expected = expectedSize(body, wanted);
  if (expected !== undefined && expected > options.budget) throw tooLarge(body, options.limit);
  if (body.item !== undefined && options.range === undefined) return { item: body.item, bytes: expected ?? 0 };
  const collected = await collectRange(body.content, wanted, options.budget, ctx);
  if (collected === undefined) throw tooLarge(body, options.limit);
  const { bytes } = collected;
  if (options.range === undefined) {
    return { item: contentsOf(sized(resource, bytes.byteLength), bytes), bytes: bytes.byteLength };
  }
  const window = windowOf(body, options.range, collected);
  const { length } = options.range;
  // Less than was asked for is all that is left.
  const atEnd = length === undefined || bytes.byteLength < length || window.offset + bytes.byteLength === window.total;
  return { item: windowItem(body, bytes, window, atEnd), bytes: bytes.byteLength };
}

/** The size that was really read, should the resource have changed since it was described (2093-6). */
const sized = (resource: Resource, size: number): Resource =>
  resource.size === undefined || resource.size === size ? resource : { ...resource, size };

/** Where the bytes lie. @throws ResourceError `invalid` for a window cut here which a provider would refuse to cut */
function windowOf(
  { resource, content, window }: ResourceBody,
  { offset }: ByteRange,
  { ended, seen }: Collected,
): BodyWindow {
  if (window !== undefined) return { offset: window.offset, total: window.total ?? resource.size };
  if (ended && offset > seen) {
    throw invalid(`The window begins behind the end of the resource, which has ${seen} bytes`, resource.uri);
  }
  return { offset, total: ended ? seen : (resource.size ?? knownSize(content)) };
}

function expectedSize(body: ResourceBody, wanted: ByteRange | undefined): number | undefined {
  const size = knownSize(body.content);
  if (wanted === undefined || size === undefined) return size;
  return Math.min(Math.max(0, size - wanted.offset), wanted.length ?? size);
}

/** The whole content of a resource as an item: text where it is UTF-8 and not of a binary type. */
export function contentsOf(resource: Resource, bytes: Buffer): ResourceContents {
  if (!isBinaryType(resource.mimeType) && isUtf8(bytes)) return { ...resource, text: bytes.toString('utf8') };
  return { ...resource, blob: bytes.toString('base64') };
}

function windowItem(
  { resource }: ResourceBody,
  bytes: Buffer,
  { offset, total }: BodyWindow,
  atEnd: boolean,
): ResourceContents {
  const meta = (start: number, length: number): { _meta: Record<string, unknown> } => ({
    _meta: { ...resource._meta, [WINDOW_META_KEY]: { offset: start, length, ...(total !== undefined && { total }) } },
  });
  // What begins in the middle of a character, or is no UTF-8 at all, is given as bytes: then no byte is left out, and a
  // reader who goes on where a window of text ended never begins there.
  if (!isBinaryType(resource.mimeType) && leadingPartBytes(bytes) === 0) {
    const whole = bytes.subarray(0, bytes.byteLength - (atEnd ? 0 : trailingPartBytes(bytes)));
    if (isUtf8(whole)) {
      if (whole.byteLength === 0 && bytes.byteLength > 0) {
        throw invalid('The window ends within one character; ask for at least 4 bytes', resource.uri);
      }
      return { ...resource, ...meta(offset, whole.byteLength), text: whole.toString('utf8') };
    }
  }
  return { ...resource, ...meta(offset, bytes.byteLength), blob: bytes.toString('base64') };
}

function tooLarge({ resource }: ResourceBody, limit: number): ResourceError {
  const size = resource.size;
  return new ResourceError(
    'too-large',
    `The content is larger than ${limit} bytes; read it in windows with _meta {"${RANGE_META_KEY}": {"offset": 0, "length": ${Math.min(limit, 1_048_576)}}}`,
    { uri: resource.uri, details: { limit, ...(size !== undefined && { size }) } },
  );
}
