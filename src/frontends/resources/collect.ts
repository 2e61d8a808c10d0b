/** Bytes of a content: a range of them, within a limit, ending the stream as soon as they are complete. */
import { type BodyContent, chunksOf } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import type { ByteRange } from '../../core/provider.ts';
import type { Parts } from '../../core/text/long-text.ts';

export interface CollectedParts {
  /** In their order; they need not be of one size. */
  readonly parts: Parts;
  /** Of all of them, in bytes. */
  readonly size: number;
  /** Bytes of the content that were gone through, from its start. */
  readonly seen: number;
  /** The content has no more than what was seen. */
  readonly ended: boolean;
}

export interface Collected extends Pick<CollectedParts, 'seen' | 'ended'> {
  readonly bytes: Buffer;
}

/** The wanted bytes, or undefined when they are more than `most`. What lies before them is gone through and not kept. */
export async function collectRange(
  content: BodyContent,
  wanted: ByteRange | undefined,
  most: number,
  ctx: Context,
): Promise<Collected | undefined> {
  const collected = await collectParts(content, wanted, most, ctx);
  return collected && { ...collected, bytes: joined(collected.parts) };
}

/** The same in the pieces that they come in. */
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

/** The parts in one piece, which is a part where there is only one. */
export function joined(parts: Parts): Buffer {
  const [only, ...others] = parts;
  return only !== undefined && others.length === 0
    ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
    : Buffer.concat(parts);
}
