/** Collects the bytes of a content, or a range of them, within a limit, and ends the stream as soon as it has them. */
import { type BodyContent, chunksOf } from './body.ts';
import type { Context } from './context.ts';
import type { ByteRange } from './provider.ts';
import type { Parts } from './text/long-text.ts';

export interface CollectedParts {
  /** In the order of the content, in pieces of any size. */
  readonly parts: Parts;
  /** Bytes of all parts together. */
  readonly size: number;
  /** Bytes of the content that were read, counted from its start. */
  readonly seen: number;
  /** The content is known to end after `seen` bytes. */
  readonly ended: boolean;
}

export interface Collected extends Pick<CollectedParts, 'seen' | 'ended'> {
  readonly bytes: Buffer;
}

/** Collects the wanted bytes; undefined if they are more than `most`. Bytes before the range are read and dropped. */
export async function collectRange(
  content: BodyContent,
  wanted: ByteRange | undefined,
  most: number,
  ctx: Context,
): Promise<Collected | undefined> {
  const collected = await collectParts(content, wanted, most, ctx);
  return collected && { ...collected, bytes: joined(collected.parts) };
}

/** Does the same as `collectRange`, and returns the bytes in the pieces in which the content yields them. */
export async function collectParts(
  content: BodyContent,
  wanted: ByteRange | undefined,
  most: number,
  ctx: Context,
): Promise<CollectedParts | undefined> {
  const from = wanted?.offset ?? 0;
  const to = wanted?.length === undefined ? Number.POSITIVE_INFINITY : from + wanted.length;
  const parts: Uint8Array[] = [];
  let seen = 0;
  let kept = 0;
  let ended = true;
  for await (const chunk of chunksOf(content)) {
    ctx.signal.throwIfAborted();
    const part = chunk.subarray(Math.max(0, from - seen), Math.max(0, Math.min(chunk.byteLength, to - seen)));
    seen += chunk.byteLength;
    kept += part.byteLength;
    if (kept > most) return undefined;
    if (part.byteLength > 0) parts.push(part);
    if (seen >= to) {
      ended = content.kind === 'bytes';
      break;
    }
  }
  return { parts, size: kept, seen, ended };
}

/** Joins the parts. A single part is not copied. */
export function joined(parts: Parts): Buffer {
  const [only, ...others] = parts;
  return only !== undefined && others.length === 0
    ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
    : Buffer.concat(parts);
}
