/** From a body to an item of `contents`: collected within the budget, then UTF-8 text or base64 (RES-2). */
import { isUtf8 } from 'node:buffer';
import { knownSize, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ByteRange } from '../../core/provider.ts';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from '../../core/text.ts';
import { RANGE_META_KEY, WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { collectRange } from './collect.ts';

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
  const bytes = await collect(body, wanted, options, ctx);
  if (options.range === undefined) return { item: contentsOf(resource, bytes), bytes: bytes.byteLength };
  const offset = body.window?.offset ?? options.range.offset;
  const total = body.window?.total ?? resource.size ?? (wanted === undefined ? undefined : knownSize(body.content));
  return { item: windowItem(body, bytes, offset, total), bytes: bytes.byteLength };
}

function expectedSize(body: ResourceBody, wanted: ByteRange | undefined): number | undefined {
  const size = knownSize(body.content);
  if (wanted === undefined) return size;
  const rest = size === undefined ? undefined : Math.max(0, size - wanted.offset);
  if (wanted.length === undefined) return rest;
  return rest === undefined ? wanted.length : Math.min(rest, wanted.length);
}

/** The wanted bytes in one piece. */
async function collect(
  body: ResourceBody,
  wanted: ByteRange | undefined,
  options: EncodeOptions,
  ctx: Context,
): Promise<Buffer> {
  const collected = await collectRange(body.content, wanted, options.budget, ctx);
  if (collected === undefined) throw tooLarge(body, options.limit);
  return collected.bytes;
}

/** The whole content of a resource as an item: text where it is UTF-8 and not of a binary type. */
export function contentsOf(resource: Resource, bytes: Buffer): ResourceContents {
  if (!isBinaryType(resource.mimeType) && isUtf8(bytes)) return { ...resource, text: bytes.toString('utf8') };
  return { ...resource, blob: bytes.toString('base64') };
}

function windowItem(
  { resource }: ResourceBody,
  bytes: Buffer,
  offset: number,
  total: number | undefined,
): ResourceContents {
  const meta = (start: number, length: number): { _meta: Record<string, unknown> } => ({
    _meta: { ...resource._meta, [WINDOW_META_KEY]: { offset: start, length, ...(total !== undefined && { total }) } },
  });
  if (!isBinaryType(resource.mimeType)) {
    const start = offset === 0 ? 0 : leadingPartBytes(bytes);
    const atEnd = total !== undefined && offset + bytes.byteLength >= total;
    const whole = bytes.subarray(start, bytes.byteLength - (atEnd ? 0 : trailingPartBytes(bytes)));
    if (isUtf8(whole)) {
      if (whole.byteLength === 0 && bytes.byteLength > start) {
        throw invalid(`The window ends within one character; ask for at least ${start + 4} bytes`, resource.uri);
      }
      return { ...resource, ...meta(offset + start, whole.byteLength), text: whole.toString('utf8') };
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
