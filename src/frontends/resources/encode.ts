/** Makes an item of `contents` from a body: reads it within the budget, and encodes it as UTF-8 text or base64 (RES-2). */
import { type BodyWindow, knownSize, type ResourceBody } from '../../core/body.ts';
import { type CollectedParts, collectParts, joined } from '../../core/collect.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { Loan } from '../../core/loan.ts';
import type { ByteRange } from '../../core/provider.ts';
import { isUtf8Text, LONG_BYTES, type LongText, longBase64, longUtf8, type Parts } from '../../core/text/long-text.ts';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from '../../core/text/text.ts';
import { RANGE_META_KEY, WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';

export interface EncodeOptions {
  /** The bytes that this read may still use. */
  readonly budget: number;
  /** The value of `budget` at the start of the read, for the error. */
  readonly limit: number;
  readonly range: ByteRange | undefined;
}

/** An item of `contents`, whose text or base64 need not be a string. */
export type ItemOf<T> = Resource & ({ readonly text: T | string } | { readonly blob: T | string });

/** Makes texts from bytes: by decoding UTF-8, or by encoding base64. */
export interface TextForm<T> {
  utf8(parts: Parts): T;
  base64(parts: Parts): T;
}

export const STRINGS: TextForm<string> = {
  utf8: (parts) => joined(parts).toString('utf8'),
  base64: (parts) => joined(parts).toString('base64'),
};

/** Makes texts for sending to a client. Long ones stay bytes, in memory that may be lent. */
export function toBeSent(loan: Loan): TextForm<string | LongText> {
  const isLong = (parts: Parts): boolean => sizeOf(parts) > LONG_BYTES;
  return {
    utf8: (parts) => (isLong(parts) ? longUtf8(parts, loan) : STRINGS.utf8(parts)),
    base64: (parts) => (isLong(parts) ? longBase64(parts, loan) : STRINGS.base64(parts)),
  };
}

const sizeOf = (parts: Parts): number => parts.reduce((sum, part) => sum + part.byteLength, 0);

interface Encoded<T> {
  readonly item: ItemOf<T>;
  readonly bytes: number;
}

export async function encodeBody<T>(
  body: ResourceBody,
  options: EncodeOptions,
  form: TextForm<T>,
  ctx: Context,
): Promise<Encoded<T>> {
  const { resource } = body;
  // A provider without `ranges` returned the whole. It is cut here, so that windows are alike everywhere.
  const wanted = body.window === undefined ? options.range : undefined;
  const expected = expectedSize(body, wanted);
  if (expected !== undefined && expected > options.budget) throw tooLarge(body, options.limit);
  if (body.item !== undefined && options.range === undefined) return { item: body.item, bytes: expected ?? 0 };
  const collected = await collectParts(body.content, wanted, options.budget, ctx);
  if (collected === undefined) throw tooLarge(body, options.limit);
  const { parts, size } = collected;
  if (options.range === undefined) return { item: itemOf(sized(resource, size), parts, form), bytes: size };
  const window = windowOf(body, options.range, collected);
  const { length } = options.range;
  // Fewer bytes than requested: the resource ends here.
  const atEnd = length === undefined || size < length || window.offset + size === window.total;
  return { item: windowItem(body, collected, window, atEnd, form), bytes: size };
}

/** Sets the size that was actually read: the resource may have changed since it was described (2093-6). */
const sized = (resource: Resource, size: number): Resource =>
  resource.size === undefined || resource.size === size ? resource : { ...resource, size };

/** Computes the window of the bytes in the resource. @throws ResourceError `invalid` for a window past the end */
function windowOf(
  { resource, content, window }: ResourceBody,
  { offset }: ByteRange,
  { ended, seen }: CollectedParts,
): BodyWindow {
  if (window !== undefined) return { offset: window.offset, total: window.total ?? resource.size };
  if (ended && offset > seen) {
    throw invalid(`The window begins past the end of the resource, which has ${seen} bytes`, resource.uri);
  }
  return { offset, total: ended ? seen : (resource.size ?? knownSize(content)) };
}

function expectedSize(body: ResourceBody, wanted: ByteRange | undefined): number | undefined {
  const size = knownSize(body.content);
  if (wanted === undefined || size === undefined) return size;
  return Math.min(Math.max(0, size - wanted.offset), wanted.length ?? size);
}

/** Makes an item of a resource's whole content: text where it is UTF-8 and has no binary type. */
export const contentsOf = (resource: Resource, bytes: Buffer): ResourceContents => itemOf(resource, [bytes], STRINGS);

function itemOf<T>(resource: Resource, parts: Parts, form: TextForm<T>): ItemOf<T> {
  if (!isBinaryType(resource.mimeType) && isUtf8Text(parts)) return { ...resource, text: form.utf8(parts) };
  return { ...resource, blob: form.base64(parts) };
}

function windowItem<T>(
  { resource }: ResourceBody,
  { parts, size }: CollectedParts,
  { offset, total }: BodyWindow,
  atEnd: boolean,
  form: TextForm<T>,
): ItemOf<T> {
  const meta = (start: number, length: number): { _meta: Record<string, unknown> } => ({
    _meta: { ...resource._meta, [WINDOW_META_KEY]: { offset: start, length, ...(total !== undefined && { total }) } },
  });
  // A window that begins inside a character, or is not UTF-8, is returned as bytes. So no byte is left out, and a
  // reader that continues where a window of text ended never begins inside a character.
  if (!isBinaryType(resource.mimeType) && leadingPartBytes(between(parts, 0, LONGEST)) === 0) {
    const open = atEnd ? 0 : trailingPartBytes(between(parts, Math.max(0, size - LONGEST), size));
    const whole = open === 0 ? parts : upTo(parts, size - open);
    if (isUtf8Text(whole)) {
      if (size === open && size > 0) {
        throw invalid('The window ends within one character; ask for at least 4 bytes', resource.uri);
      }
      return { ...resource, ...meta(offset, size - open), text: form.utf8(whole) };
    }
  }
  return { ...resource, ...meta(offset, size), blob: form.base64(parts) };
}

/** The most bytes of a UTF-8 character. */
const LONGEST = 4;

/** Copies a few bytes out of the parts. */
function between(parts: Parts, from: number, to: number): Buffer {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const part of parts) {
    pieces.push(part.subarray(Math.max(0, from - at), Math.max(0, to - at)));
    at += part.byteLength;
  }
  return Buffer.concat(pieces);
}

/** Returns the beginning of the parts. */
function upTo(parts: Parts, end: number): Parts {
  let at = 0;
  return parts.map((part) => {
    const begin = part.subarray(0, Math.max(0, end - at));
    at += part.byteLength;
    return begin;
  });
}

function tooLarge({ resource }: ResourceBody, limit: number): ResourceError {
  const size = resource.size;
  return new ResourceError(
    'too-large',
    `The content is larger than ${limit} bytes; read it in windows with _meta {"${RANGE_META_KEY}": {"offset": 0, "length": ${Math.min(limit, 1_048_576)}}}`,
    { uri: resource.uri, details: { limit, ...(size !== undefined && { size }) } },
  );
}
