/** Returns the encoding that the byte-order mark of a text gives; undefined for a text without one. */
export function encodingOfMark(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | 'utf-8' | undefined {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  if (mark === 0xfffe) return 'utf-16le';
  if (mark === 0xfeff) return 'utf-16be';
  return mark === 0xefbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}
