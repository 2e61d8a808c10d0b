/**
 * Percent-encoding for URI templates: tells which characters a URI may contain raw (RFC 3986 section 2), encodes values, and
 * cuts a URI into units, so that matching never splits a character.
 */

/** Kind of a unit: an unreserved character, or any encoded character, since an encoded character is always data. */
export const UNRESERVED = 1;
/** Kind of a unit: a raw gen-delim or sub-delim. */
export const RESERVED = 2;

const ENCODED = 0x200000;
const BROKEN = 0x400000;
const HEX_DIGIT = /^[0-9A-Fa-f]$/;
const TRIPLET = /%[0-9A-Fa-f]{2}/g;
const PERCENT = 0x25;

const ASCII_KINDS = asciiKinds();

function asciiKinds(): Uint8Array {
  const kinds = new Uint8Array(128);
  const mark = (characters: string, kind: number) => {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  };
  mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~', UNRESERVED);
  mark(":/?#[]@!$&'()*+,;=", RESERVED);
  return kinds;
}

/**
 * A URI cut into units. A unit is a raw character, or the triplets that encode one code point. The codes of raw and encoded
 * characters differ, so an encoded comma is never mistaken for a separator. Unit `i` begins at `offsets[i]` in `text`.
 */
export interface Units {
  readonly text: string;
  readonly length: number;
  readonly codes: Int32Array;
  readonly kinds: Uint8Array;
  readonly offsets: Int32Array;
}

/**
 * Cuts a URI into units. A triplet that is not part of valid UTF-8 (RFC 3629: overlong, surrogate, truncated) becomes
 * a unit of no kind, which only a literal can match. Returns undefined if the text has a character that RFC 3986
 * section 2 does not allow raw: controls, spaces, `"<>\^{|}`, the grave accent, non-ASCII, a stray `%`.
 */
export function toUnits(text: string): Units | undefined {
  const codes = new Int32Array(text.length);
  const kinds = new Uint8Array(text.length);
  const offsets = new Int32Array(text.length + 1);
  let length = 0;
  for (let at = 0; at < text.length; length++) {
    offsets[length] = at;
    const code = text.charCodeAt(at);
    const byte = byteAt(text, at);
    if (byte >= 0) {
      const sequence = sequenceAt(text, at);
      codes[length] = sequence === undefined ? BROKEN + byte : ENCODED + sequence.codePoint;
      kinds[length] = sequence === undefined ? 0 : UNRESERVED;
      at = sequence?.end ?? at + 3;
    } else {
      const kind = kindOf(code);
      if (kind === 0) return undefined;
      codes[length] = code;
      kinds[length] = kind;
      at++;
    }
  }
  offsets[length] = text.length;
  return { text, length, codes, kinds, offsets };
}

/**
 * Decodes the units from `start` to `end`, each exactly once. If `reserved` is set, reserved expansion of the result must give
 * the same text again (RFC 6570 section 3.2.3). It copies reserved characters and triplets, so a triplet that encodes a
 * reserved character stays a triplet, and so does a `%25` that would form a triplet with the two characters after it.
 */
export function decodeUnits(units: Units, start: number, end: number, reserved: boolean): string {
  const pieces: string[] = [];
  for (let i = start; i < end; i++) {
    const code = units.codes[i] ?? 0;
    const codePoint = code >= ENCODED ? code - ENCODED : code;
    const kept = reserved && code >= ENCODED && kindOf(codePoint) === RESERVED;
    pieces.push(kept ? rawUnit(units, i) : String.fromCodePoint(codePoint));
  }
  if (!reserved) return pieces.join('');
  const isHex = (i: number) => HEX_DIGIT.test(pieces[i] ?? '');
  return pieces
    .map((piece, i) => (piece === '%' && isHex(i + 1) && isHex(i + 2) ? rawUnit(units, start + i) : piece))
    .join('');
}

/**
 * Encodes a value for expansion (RFC 6570 section 3.2.1). Unreserved characters stay; if `reserved` is set, so do reserved
 * characters and triplets. Everything else becomes UTF-8 triplets. Takes at most `limit` characters of the value. The triplets
 * of one character, if they stay, count as one, so that they are not split (section 2.4.1). Throws a URIError for a lone surrogate.
 */
export function encodeText(value: string, reserved: boolean, limit = Number.POSITIVE_INFINITY): string {
  const allowed = reserved ? UNRESERVED | RESERVED : UNRESERVED;
  let encoded = '';
  for (let at = 0, count = 0; at < value.length && count < limit; count++) {
    if (reserved && byteAt(value, at) >= 0) {
      const end = sequenceAt(value, at)?.end ?? at + 3;
      encoded += value.slice(at, end);
      at = end;
      continue;
    }
    const codePoint = value.codePointAt(at) ?? 0;
    const character = String.fromCodePoint(codePoint);
    encoded += (kindOf(codePoint) & allowed) !== 0 ? character : encodeCharacter(character);
    at += character.length;
  }
  return encoded;
}

/**
 * Normalizes a URI's triplets (RFC 3986 sections 6.2.2.1 and 6.2.2.2): hexadecimal digits become upper case, and unreserved
 * characters are decoded. Two URIs with the same normal form are equivalent.
 */
export function normalizeTriplets(uri: string): string {
  return uri.replace(TRIPLET, (triplet) => {
    const byte = byteAt(triplet, 0);
    return kindOf(byte) === UNRESERVED ? String.fromCharCode(byte) : triplet.toUpperCase();
  });
}

function kindOf(codePoint: number): number {
  return ASCII_KINDS[codePoint] ?? 0;
}

function rawUnit(units: Units, i: number): string {
  return units.text.slice(units.offsets[i], units.offsets[i + 1]);
}

/** Encodes ASCII without encodeURIComponent, which leaves `!'()*` raw although RFC 3986 made them reserved. */
function encodeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0x80) return encodeURIComponent(character);
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Returns the byte that the triplet at `at` encodes, or -1 if there is no triplet. */
function byteAt(text: string, at: number): number {
  if (text.charCodeAt(at) !== PERCENT) return -1;
  const high = hexValue(text.charCodeAt(at + 1));
  const low = hexValue(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : -1;
}

/** Returns the code point that the triplets at `at` encode, and their end; undefined if they are not UTF-8. */
function sequenceAt(text: string, at: number): { readonly codePoint: number; readonly end: number } | undefined {
  const lead = byteAt(text, at);
  if (lead < 0x80) return lead < 0 ? undefined : { codePoint: lead, end: at + 3 };
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return undefined;
  let codePoint = lead & (0xff >> (size + 1));
  for (let i = 1; i < size; i++) {
    const byte = byteAt(text, at + 3 * i);
    if (byte < 0x80 || byte > 0xbf) return undefined;
    codePoint = codePoint * 64 + (byte & 0x3f);
  }
  const smallest = size === 4 ? 0x10000 : size === 3 ? 0x800 : 0x80;
  const surrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  return codePoint < smallest || codePoint > 0x10ffff || surrogate ? undefined : { codePoint, end: at + 3 * size };
}
