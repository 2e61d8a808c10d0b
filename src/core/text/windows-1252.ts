/** Decodes windows-1252, which every label of ISO 8859-1 means, too. */

/** The characters of windows-1252 from 0x80 on, where ISO 8859-1 has control characters. Five places are the same in both. */
const FROM_0X80 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/** Returns the text of the bytes; all bytes are valid. Some versions of Node.js decode `windows-1252` as ISO 8859-1. */
export const decodeWindows1252 = (bytes: Uint8Array): string =>
  new TextDecoder('windows-1252')
    .decode(bytes)
    .replace(/[\u0080-\u009f]/g, (each) => FROM_0X80[each.charCodeAt(0) - 0x80] ?? each);
