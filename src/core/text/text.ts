/** Tells which MIME types are binary, and where UTF-8 may be cut. */

const BINARY_TYPE =
  /^(?:(?:image|audio|video|font|model)\/(?!svg\+xml)|application\/(?:octet-stream|pdf|zip|gzip|x-tar|wasm|vnd\.(?:ms-|openxmlformats|oasis)|msword|epub\+zip|x-7z|x-bzip|x-sqlite|vnd\.sqlite)|inode\/)/i;

/** Whether content of this type is binary even if its bytes happen to be valid UTF-8, as those of a small PDF may be. */
export function isBinaryType(mimeType: string | undefined): boolean {
  return mimeType !== undefined && BINARY_TYPE.test(mimeType);
}

/** Whether a byte continues a character of UTF-8. */
export const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Counts the bytes at the start that belong to a character that began earlier: 0 to 3. */
export function leadingPartBytes(bytes: Uint8Array): number {
  let count = 0;
  while (count < 3 && isContinuation(bytes[count])) count++;
  return count;
}

/** Counts the bytes at the end that belong to a character that continues later: 0 to 3. */
export function trailingPartBytes(bytes: Uint8Array): number {
  const length = bytes.byteLength;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
