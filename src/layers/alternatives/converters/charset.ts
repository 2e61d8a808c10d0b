/** Decodes text in any declared encoding. */
import { encodingOfMark } from '../../../core/text/byte-order-mark.ts';

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

/** The characters of windows-1252 from 0x80 on, where ISO 8859-1 has control characters. Five places are the same in both. */
const FROM_0X80 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** Some versions of Node.js decode `windows-1252` as ISO 8859-1. */
const decodeWindows1252 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (each) => FROM_0X80[each.charCodeAt(0) - 0x80] ?? each);
