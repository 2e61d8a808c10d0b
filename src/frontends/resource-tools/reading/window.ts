/**
 * Windows (CB-3): a range of bytes over the parts of a resource in order. Most resources have one part. A directory's
 * children, and several formats of one content, are several parts; the window runs over them as if they were one file.
 */
import { knownSize } from '../../../core/body.ts';
import type { Context } from '../../../core/context.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { withBodies } from '../../resources/read.ts';
import { isContainer } from '../facts.ts';
import type { ToolSetup } from '../setup.ts';
import { type CutLimits, cutWindow } from './cut.ts';
import { pastEnd, readSlice, type Slice, sliceOf } from './slice.ts';

export interface Part {
  readonly resource: Resource;
  readonly kind: 'text' | 'base64';
  readonly bytes: Buffer;
  /** Bytes of the whole part, where known. */
  readonly total: number | undefined;
}

export interface Window {
  /** Its first byte: the requested offset, or the end of the character that contains this offset. */
  readonly start: number;
  readonly maxBytes: number;
  /** The parts inside the window. */
  readonly parts: readonly Part[];
  readonly totalParts: number;
  /** The first byte of the next window; undefined at the end. */
  readonly next: number | undefined;
  /** Bytes of all parts, where known. */
  readonly total: number | undefined;
}

/** The fewest bytes of a window: the longest character of UTF-8. */
export const MIN_WINDOW_BYTES = 4;

/**
 * Returns how many bytes a window may have: the requested number, or as many as fit the output budget, in base64 where
 * needed. A result holds the text of a window twice, so the text gets half of the bytes of one message.
 */
export function windowLimits(setup: ToolSetup, maxBytes: number | undefined): CutLimits {
  const { outputBytes, resources } = setup;
  const { maxReadBytes } = resources.limits;
  const text = Math.min(maxBytes ?? outputBytes, Math.floor(maxReadBytes / 2));
  const base64 = Math.min(maxBytes ?? Math.floor(outputBytes / 4) * 3, maxReadBytes);
  return { text: Math.max(MIN_WINDOW_BYTES, text), base64: Math.max(MIN_WINDOW_BYTES, base64) };
}

/** @throws ResourceError `invalid` for an offset past the end */
export async function readWindow(
  setup: ToolSetup,
  resource: Resource,
  offset: number,
  limits: CutLimits,
  ctx: Context,
  accept?: readonly string[],
): Promise<Window> {
  if (!isContainer(resource)) {
    const length = Math.max(limits.text, limits.base64);
    const slice = await readSlice(setup.resources, resource.uri, offset, length, ctx, accept);
    if (slice !== undefined) return windowOf(slice, limits);
  }
  return windowOverParts(setup, resource.uri, offset, Math.min(limits.text, limits.base64), ctx, accept);
}

/** Returns the window at the beginning of a slice that is in memory. */
export function windowOf(slice: Slice, limits: CutLimits): Window {
  const { kind, start, bytes } = cutWindow(slice, limits);
  const end = start + bytes.byteLength;
  const { resource, total } = slice;
  return {
    start,
    maxBytes: limits[kind],
    parts: [{ resource, kind, bytes, total }],
    totalParts: 1,
    next: end === total ? undefined : end,
    total,
  };
}

function windowOverParts(
  setup: ToolSetup,
  uri: string,
  offset: number,
  maxBytes: number,
  ctx: Context,
  accept: readonly string[] | undefined,
): Promise<Window> {
  return withBodies(setup.resources, uri, { accept }, ctx, async (all) => {
    const bodies = all.filter((body) => !isContainer(body.resource));
    const window = { maxBytes, totalParts: bodies.length };
    const parts: Part[] = [];
    let start = offset;
    let room = maxBytes;
    /** The beginning of the current part. */
    let at = 0;
    /** The end of the window, once it is known. */
    let end: number | undefined;
    for (const body of bodies) {
      const from = Math.max(0, offset - at);
      const known = knownSize(body.content);
      if (end !== undefined || (known !== undefined && isBefore(known, from))) {
        if (known === undefined) return { ...window, start, parts, next: end, total: undefined };
        at += known;
        continue;
      }
      const slice = await sliceOf(body, from, room, ctx);
      const { total } = slice;
      if (total === undefined || !isBefore(total, from)) {
        const cut = cutWindow(slice, { text: room, base64: room });
        if (parts.length === 0) start = at + cut.start;
        parts.push({ resource: slice.resource, kind: cut.kind, bytes: cut.bytes, total });
        room -= cut.bytes.byteLength;
        const reached = cut.start + cut.bytes.byteLength;
        if (reached !== total || room < MIN_WINDOW_BYTES) end = at + reached;
        if (total === undefined) return { ...window, start, parts, next: end, total };
      }
      at += total;
    }
    if (offset > at) throw pastEnd(uri, at);
    return { ...window, start, parts, next: end === at ? undefined : end, total: at };
  });
}

/** Whether a part of this size ends before its byte `from`. An empty part is never before its beginning. */
const isBefore = (size: number, from: number): boolean => from > 0 && from >= size;
