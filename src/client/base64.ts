/**
 * Decodes base64, and computes the size of base64 and of text in bytes without decoding the one or encoding the other
 * (SEC-RES-3).
 */

/** Returns the number of bytes that a text in base64 decodes to. Line breaks are counted, too: with them the number is too large. */
export function base64Size(text: string): number {
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) === PADDING) length--;
  return Math.floor((length * 3) / 4);
}

/** Returns the number of bytes of a text in UTF-8. Half a surrogate pair counts as the three bytes of its replacement. */
export function utf8Size(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
      continue;
    }
    const paired = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    bytes += 2;
    if (paired) at++;
  }
  return bytes;
}

/**
 * Decodes base64; returns undefined for any other text. The alphabet of URLs, missing padding and line breaks are accepted,
 * too, because some servers send them. Call `base64Size` first: this function has no limit.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(base64Size(text));
  let written = 0;
  let bits = 0;
  let held = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === PADDING) break;
    const value = unit < 128 ? (VALUES[unit] ?? INVALID) : INVALID;
    if (value === SPACE) continue;
    if (value === INVALID) return undefined;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[written++] = (held >> bits) & 0xff;
  }
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== PADDING && VALUES[unit] !== SPACE) return undefined;
  }
  // One character is left over: its six bits are not a byte.
  if (bits === 6) return undefined;
  return written === bytes.length ? bytes : bytes.slice(0, written);
}

const PADDING = 0x3d;
const SPACE = 64;
const INVALID = 65;

const VALUES = ((): Uint8Array => {
  const values = new Uint8Array(128).fill(INVALID);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let value = 0; value < alphabet.length; value++) values[alphabet.charCodeAt(value)] = value;
  values['-'.charCodeAt(0)] = 62;
  values['_'.charCodeAt(0)] = 63;
  for (const space of ' \t\r\n') values[space.charCodeAt(0)] = SPACE;
  return values;
})();
