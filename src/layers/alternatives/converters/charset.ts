/** Decodes text in any declared encoding. */
import { encodingOfMark } from '../../../core/text/byte-order-mark.ts';
import { decodeWindows1252 } from '../../../core/text/windows-1252.ts';

/** Browsers look for a declared encoding in this many bytes. */
const HEAD_BYTES = 1_024;

/**
 * Decodes markup by its byte-order mark, else by its declaration, else as UTF-8; like browsers, invalid UTF-8 as windows-1252.
 */
export function decodeMarkup(bytes: Uint8Array): string {
  const mark = encodingOfMark(bytes);
  if (mark !== undefined) return new TextDecoder(mark).decode(bytes);
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES));
  const declared = /(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1];
  if (declared !== undefined && !/^utf-?16/i.test(declared)) {
    try {
      const decoder = new TextDecoder(declared);
      return decoder.encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes);
    } catch {
      // The encoding is unknown.
    }
  }
  return decodeText(bytes);
}

/** Decodes UTF-8, or UTF-16 by its mark; anything else as windows-1252. */
export function decodeText(bytes: Uint8Array): string {
  const mark = encodingOfMark(bytes);
  if (mark !== undefined) return new TextDecoder(mark).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decodeWindows1252(bytes);
  }
}
