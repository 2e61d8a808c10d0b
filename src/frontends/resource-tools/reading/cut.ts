/** Cuts a window: text between characters, so that none is split, and everything else at the byte. */
import { isUtf8 } from 'node:buffer';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from '../../../core/text/text.ts';
import type { Slice } from './slice.ts';

export interface Cut {
  readonly kind: 'text' | 'base64';
  /** Its first byte in the resource: the wanted offset, or the end of the character that contains this offset. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** The most bytes of a window, for each kind. At least 4, so that there is room for any character. */
export interface CutLimits {
  readonly text: number;
  readonly base64: number;
}

/**
 * Cuts the window at the beginning of a slice. If each window begins where the one before ended, together they give every
 * byte once: only a text window moves its start, only from the middle of a character, and no window ends there.
 */
export function cutWindow(slice: Slice, limits: CutLimits): Cut {
  return (
    (isBinaryType(slice.resource.mimeType) ? undefined : cutText(slice, limits.text)) ?? cutBytes(slice, limits.base64)
  );
}

/** Undefined when the bytes are not UTF-8. */
function cutText({ bytes, before, offset, ended }: Slice, most: number): Cut | undefined {
  // The bytes before the window show whether its first bytes are the rest of a character, or not UTF-8 at all.
  const open = trailingPartBytes(bytes.subarray(0, before));
  const skipped = leadingPartBytes(bytes.subarray(before));
  const from = before + skipped;
  const to = wholeCharacters(bytes, from, most, ended);
  if (!isUtf8(bytes.subarray(before - open, Math.max(from, to)))) return undefined;
  return { kind: 'text', start: offset + skipped, bytes: bytes.subarray(from, to) };
}

function cutBytes({ resource, bytes, before, offset, ended }: Slice, most: number): Cut {
  // In text that is not all UTF-8, the next window may be UTF-8 again, and must not begin inside a character.
  const to = isBinaryType(resource.mimeType)
    ? Math.min(bytes.byteLength, before + most)
    : wholeCharacters(bytes, before, most, ended);
  return { kind: 'base64', start: offset, bytes: bytes.subarray(before, to) };
}

/** Returns where to end, at most `most` bytes after `from`, so that no character is split. */
function wholeCharacters(bytes: Buffer, from: number, most: number, ended: boolean): number {
  const end = Math.min(bytes.byteLength, from + most);
  if (ended && end === bytes.byteLength) return end;
  return end - trailingPartBytes(bytes.subarray(from, end));
}
