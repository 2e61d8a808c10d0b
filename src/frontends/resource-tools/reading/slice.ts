/** Reads a slice of a resource with a few bytes around it, so that it can be cut between characters. */
import { knownSize, type ResourceBody } from '../../../core/body.ts';
import { collectRange } from '../../../core/collect.ts';
import type { Context } from '../../../core/context.ts';
import { invalid, type ResourceError } from '../../../core/errors.ts';
import type { Resource } from '../../../protocol/resources.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { withBodies } from '../../resources/read.ts';

/** A character of UTF-8 begins at most this many bytes before its last one. */
const MARGIN = 3;

/** Bytes that are read from the beginning to detect the type: enough for any format with a signature. */
const HEAD_BYTES = 4_100;

export interface Slice {
  /** The resource, with the type that its first bytes show. */
  readonly resource: Resource;
  /**
   * The requested bytes, with up to three bytes before and three bytes after them. At offset 0 there may be more, to detect the
   * type.
   */
  readonly bytes: Buffer;
  readonly offset: number;
  /** The place of `offset` in `bytes`. */
  readonly before: number;
  /** Bytes of the whole; undefined if unknown. */
  readonly total: number | undefined;
  /** Whether `bytes` reach the end of the whole. */
  readonly ended: boolean;
}

/**
 * Reads a slice of a resource that is one content; undefined if it has several. The provider is asked for these bytes only,
 * so memory and work do not grow with the resource.
 * @param accept the wanted formats, best first; default: the resource's own format
 * @throws ResourceError `invalid` for an offset past the end
 */
export async function readSlice(
  options: ResourceOptions,
  uri: string,
  offset: number,
  length: number,
  ctx: Context,
  accept?: readonly string[],
): Promise<Slice | undefined> {
  const headBytes = Math.min(HEAD_BYTES, options.limits.maxReadBytes);
  const wanted = offset === 0 ? Math.max(length, headBytes) : length;
  const slice = await readRaw(options, uri, offset, wanted, ctx, accept);
  if (slice === undefined || offset === 0) return slice;
  const head = await readRaw(options, uri, 0, headBytes, ctx, accept);
  return head === undefined ? slice : { ...slice, resource: head.resource };
}

function readRaw(
  options: ResourceOptions,
  uri: string,
  offset: number,
  length: number,
  ctx: Context,
  accept: readonly string[] | undefined,
): Promise<Slice | undefined> {
  const start = offset - marginBefore(offset);
  const range = { offset: start, length: offset - start + length + MARGIN };
  return withBodies(options, uri, { range, maxBytes: range.length, accept }, ctx, async (bodies) => {
    const [body] = bodies;
    if (body === undefined || bodies.length > 1 || body.child) return undefined;
    const slice = await sliceOf(body, offset, length, ctx);
    const { total, bytes, before } = slice;
    if (total === undefined ? bytes.byteLength < before : offset > total) throw pastEnd(uri, total);
    return slice;
  });
}

const marginBefore = (offset: number): number => Math.min(offset, MARGIN);

/** Returns a slice of a body that has the whole content or the range that `readRaw` asked for. A slice past the end is empty. */
export async function sliceOf(body: ResourceBody, offset: number, length: number, ctx: Context): Promise<Slice> {
  const { resource, content, window } = body;
  const before = marginBefore(offset);
  const start = offset - before;
  // The place in the resource at which the body begins.
  const origin = window === undefined ? 0 : start;
  const wanted = { offset: start - origin, length: before + length + MARGIN };
  const collected = await collectRange(content, wanted, wanted.length, ctx);
  const { bytes, seen, ended } = collected ?? { bytes: Buffer.alloc(0), seen: 0, ended: false };
  const seenEnd = ended && bytes.byteLength < wanted.length && (origin === 0 || seen > 0);
  const declared = window === undefined ? (knownSize(content) ?? resource.size) : window.total;
  const total = seenEnd ? origin + seen : declared;
  return { resource, bytes, offset, before, total, ended: start + bytes.byteLength === total };
}

/** The error for a window that begins past the end of a resource. */
export function pastEnd(uri: string, total: number | undefined): ResourceError {
  const size = total === undefined ? '' : `, which has ${total} bytes`;
  return invalid(`The window begins past the end of the resource${size}`, uri);
}
