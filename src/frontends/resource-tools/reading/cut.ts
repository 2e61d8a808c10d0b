/** Cuts a window: text between characters, so that none is split, and everything else at the byte. */
import { isUtf8 } from 'node:buffer';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from '../../../core/text/text.ts';
import type { Slice } from './slice.ts';

export interface Cut {
  readonly kind: 'text' | 'base64';
  /** Its beginning in the resource: behind the character that the wanted offset lies in the middle of. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** The most bytes of a window, by what is in it. At least 4, so that there is room for any character. */
export interface CutLimits {
  readonly text: number;
  readonly base64: number;
}

/**
 * The window at the beginning of a slice. Windows that begin where the one before ended give every byte once, whatever
 * the content is: only text moves its start, and it does so only in the middle of a character, where no window ends.
 */
export function cutWindow(slice: Slice, limits: CutLimits): Cut {
  return (
    (isBinaryType(slice.resource.mimeType) ? undefined : cutText(slice, limits.text)) ?? cutBytes(slice, limits.base64)
  );
}

/** Undefined when the bytes are not UTF-8. */
function cutText({ bytes, before, offset, ended }: Slice, most: number): Cut | undefined {
  // The bytes before say whether those at the start are the rest of a character, or no text at all.
  const open = trailingPartBytes(bytes.subarray(0, before));
  const skipped = leadingPartBytes(bytes.subarray(before));
  const from = before + skipped;
  const to = wholeCharacters(bytes, from, most, ended);
  if (!isUtf8(bytes.subarray(before - open, Math.max(from, to)))) return undefined;
  return { kind: 'text', start: offset + skipped, bytes: bytes.subarray(from, to) };
}

function cutBytes({ resource, bytes, before, offset, ended }: Slice, most: number): Cut {
  // Text in another encoding: the next window may be UTF-8 again, and must not begin inside of a character.
  const to = isBinaryType(resource.mimeType)
    ? Math.min(bytes.byteLength, before + most)
    : wholeCharacters(bytes, before, most, ended);
  return { kind: 'base64', start: offset, bytes: bytes.subarray(before, to) };
}

/** Returns the end of at most `most` bytes from `from` that splits no character. */
function wholeCharacters(bytes: Buffer, from: number, most: number, ended: boolean): number {
  const end = Math.min(bytes.byteLength, from + most);
  if (ended && end === bytes.byteLength) return end;
  return end - trailingPartBytes(bytes.subarray(from, end));
}
