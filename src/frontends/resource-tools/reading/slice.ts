/** A slice of a resource with a few bytes around it, so that it can be cut between characters. */
import { knownSize, type ResourceBody } from '../../../core/body.ts';
import type { Context } from '../../../core/context.ts';
import { invalid } from '../../../core/errors.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { collectRange } from '../../resources/collect.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { withBodies } from '../../resources/read.ts';

/** A character of UTF-8 begins at most this many bytes before its last one. */
const MARGIN = 3;

/** What a type is told by: the beginning, as much as is enough for any format that is known by its first bytes. */
const HEAD_BYTES = 4_100;

export interface Slice {
  /** With the type as its beginning tells it. */
  readonly resource: Resource;
  /** From up to three bytes before `offset` to three bytes behind what was wanted, as far as there are such. */
  readonly bytes: Buffer;
  readonly offset: number;
  /** Where `offset` is in `bytes`. */
  readonly before: number;
  /** Bytes of the whole; undefined when nobody knows. */
  readonly total: number | undefined;
  /** `bytes` reach the end of the whole. */
  readonly ended: boolean;
}

/**
 * The slice of a resource that is one content; undefined when it is several. Only what is wanted is asked for, so memory
 * and work do not grow with the resource.
 * @throws ResourceError `invalid` for an offset behind the end
 */
export async function readSlice(
  options: ResourceOptions,
  uri: string,
  offset: number,
  length: number,
  ctx: Context,
): Promise<Slice | undefined> {
  const wanted = offset === 0 ? Math.max(length, HEAD_BYTES) : length;
  const slice = await readRaw(options, uri, offset, wanted, ctx);
  if (slice === undefined || offset === 0) return slice;
  const head = await readRaw(options, uri, 0, HEAD_BYTES, ctx);
  return head === undefined ? slice : { ...slice, resource: head.resource };
}

function readRaw(
  options: ResourceOptions,
  uri: string,
  offset: number,
  length: number,
  ctx: Context,
): Promise<Slice | undefined> {
  const before = Math.min(offset, MARGIN);
  const range = { offset: offset - before, length: before + length + MARGIN };
  return withBodies(options, uri, { range, maxBytes: range.length }, ctx, async (bodies) => {
    const [body] = bodies;
    if (body === undefined || bodies.length > 1 || body.child) return undefined;
    if (body.window !== undefined) return sliceOf(body, offset, before, length, 0, ctx);
    return sliceOf(body, offset, before, length, range.offset, ctx);
  });
}

/**
 * Cuts a slice out of a body.
 * @param from where in the body's own content the slice, with its margin, begins
 */
export async function sliceOf(
  body: ResourceBody,
  offset: number,
  before: number,
  length: number,
  from: number,
  ctx: Context,
): Promise<Slice> {
  const wanted = { offset: from, length: before + length + MARGIN };
  const collected = await collectRange(body.content, wanted, wanted.length, ctx);
  const { bytes = Buffer.alloc(0), seen = 0, ended = false } = collected ?? {};
  const start = offset - before;
  const told = body.window === undefined ? knownSize(body.content) : body.window.total;
  const total = bytes.byteLength < wanted.length && ended ? start - from + seen : told;
  if (total !== undefined && offset > total) throw behindEnd(body.resource.uri, total);
  return { resource: body.resource, bytes, offset, before, total, ended: start + bytes.byteLength === total };
}

export const behindEnd = (uri: string, total: number) =>
  invalid(`The window begins behind the end of the resource, which has ${total} bytes; begin before that`, uri);
