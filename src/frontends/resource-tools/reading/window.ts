/**
 * Windows (CB-3): a range of bytes over the parts of a resource in their order. Most resources are one part; children of
 * a directory and alternatives of one content are several, and the window runs over them as if they were one.
 */
import { isUtf8 } from 'node:buffer';
import { knownSize, type ResourceBody } from '../../../core/body.ts';
import type { Context } from '../../../core/context.ts';
import type { Resource } from '../../../protocol/resources.ts';
import { withBodies } from '../../resources/read.ts';
import type { ToolSetup } from '../define.ts';
import { isContainer } from '../facts.ts';
import { type CutLimits, cutWindow } from './cut.ts';
import { behindEnd, readSlice, type Slice, sliceOf } from './slice.ts';

export interface Part {
  readonly resource: Resource;
  readonly kind: 'text' | 'base64';
  readonly bytes: Buffer;
  /** Bytes of the whole part, where known. */
  readonly total: number | undefined;
}

export interface Window {
  /** Where it begins: as asked for, or behind the character that this lies in the middle of. */
  readonly start: number;
  readonly maxBytes: number;
  /** The parts that lie in it. */
  readonly parts: readonly Part[];
  readonly totalParts: number;
  /** Where the next window begins; undefined at the end. */
  readonly next: number | undefined;
  /** Bytes of all parts, where known. */
  readonly total: number | undefined;
}

/** The fewest bytes of a window: the longest character of UTF-8. */
export const MIN_WINDOW_BYTES = 4;

/** How much goes into a window: what was asked for, or what fits the output budget, as base64 where it has to be. */
export function windowLimits(setup: ToolSetup, maxBytes: number | undefined): CutLimits {
  const { outputBytes, resources } = setup;
  const { maxReadBytes } = resources.limits;
  const text = maxBytes ?? outputBytes;
  const base64 = maxBytes ?? Math.max(MIN_WINDOW_BYTES, Math.floor(outputBytes / 4) * 3);
  return { text: Math.min(text, maxReadBytes), base64: Math.min(base64, maxReadBytes) };
}

/** @throws ResourceError `invalid` for an offset behind the end */
export async function readWindow(
  setup: ToolSetup,
  resource: Resource,
  offset: number,
  limits: CutLimits,
  ctx: Context,
): Promise<Window> {
  if (!isContainer(resource)) {
    const length = Math.max(limits.text, limits.base64);
    const slice = await readSlice(setup.resources, resource.uri, offset, length, ctx);
    if (slice !== undefined) return windowOf(slice, limits);
  }
  return windowOverParts(setup, resource.uri, offset, Math.min(limits.text, limits.base64), ctx);
}

/** The window at the beginning of a slice that is at hand. */
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
): Promise<Window> {
  return withBodies(setup.resources, uri, {}, ctx, async (all) => {
    const bodies = all.filter((body) => !isContainer(body.resource));
    const parts: Part[] = [];
    let start = offset;
    let end = offset;
    let at = 0;
    let open = false;
    for (const body of bodies) {
      const room = offset + maxBytes - end;
      const known = knownSize(body.content);
      // Behind the window nothing is read; its size may be known all the same.
      if (open || (room < MIN_WINDOW_BYTES && parts.length > 0)) {
        open = true;
        if (known === undefined) return { start, maxBytes, parts, totalParts: bodies.length, next: end, total: undefined };
        at += known;
        continue;
      }
      if (known !== undefined && at + known <= offset && !(known === 0 && at === offset)) {
        at += known;
        continue;
      }
      const { part, skipped, size } = await takePart(body, Math.max(0, offset - at), room, ctx);
      if (part !== undefined) {
        if (parts.length === 0) start = Math.max(offset, at) + skipped;
        parts.push(part);
        end = Math.max(offset, at) + skipped + part.bytes.byteLength;
      }
      open = size === undefined || end < at + size;
      if (size === undefined) return { start, maxBytes, parts, totalParts: bodies.length, next: end, total: undefined };
      at += size;
    }
    if (offset > at) throw behindEnd(uri, at);
    return { start, maxBytes, parts, totalParts: bodies.length, next: end < at ? end : undefined, total: at };
  });
}
