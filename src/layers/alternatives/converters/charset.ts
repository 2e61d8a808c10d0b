/** Text in whatever encoding it says that it has. */

/** Bytes in which an encoding is declared, as browsers look for it. */
const HEAD_BYTES = 1_024;

/**
 * The text of markup: by its byte-order mark, else by what it declares, else UTF-8; what is not valid in UTF-8 is taken for
 * windows-1252, as browsers do.
 */
export function decodeMarkup(bytes: Uint8Array): string {
  const mark = markOf(bytes);
  if (mark !== undefined) return new TextDecoder(mark).decode(bytes);
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES));
  const declared = /(?:charset|encoding)\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head)?.[1];
  if (declared !== undefined && !/^utf-?16/i.test(declared)) {
    try {
      return new TextDecoder(declared).decode(bytes);
    } catch {
      // An encoding that nobody knows.
    }
  }
  return decodeText(bytes);
}

/** UTF-8 where it is that, or UTF-16 by its mark; else windows-1252. */
export function decodeText(bytes: Uint8Array): string {
  const mark = markOf(bytes);
  if (mark !== undefined) return new TextDecoder(mark).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function markOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | 'utf-8' | undefined {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  if (mark === 0xfffe) return 'utf-16le';
  if (mark === 0xfeff) return 'utf-16be';
  return mark === 0xefbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}
