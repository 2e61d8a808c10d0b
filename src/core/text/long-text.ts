/**
 * Long texts that avoid copies on their way out: they stay as read, and are written as JSON piece by piece. For other
 * code they behave as strings, through `JSON.stringify`.
 */
import { isUtf8 } from 'node:buffer';
import { Loan } from '../loan.ts';
import { leadingPartBytes, trailingPartBytes } from './text.ts';

/** A text with at least this many bytes is long. */
export const LONG_BYTES = 64 * 1024;

/** Bytes in several pieces, in order. */
export type Parts = readonly Uint8Array[];

/** Writes the content of a long text, without quotes. */
interface Writing {
  readonly bytes: number;
  pieces(out: Buffer): Iterable<Uint8Array>;
  toString(): string;
}

/** Marks the place of a long text in JSON. It is random, so that no content can contain it. */
const MARK = crypto.randomUUID();

let aside: LongText[] | undefined;

export class LongText {
  readonly #writing: Writing;
  readonly #loan: Loan | undefined;
  readonly #counted: boolean;

  /** @param counted whether the loan's memory is counted elsewhere */
  constructor(writing: Writing, loan: Loan | undefined, counted = loan !== undefined) {
    this.#writing = writing;
    this.#loan = loan;
    this.#counted = counted;
  }

  /** Bytes of its JSON, without quotes. */
  get bytes(): number {
    return this.#writing.bytes;
  }

  /** Bytes of memory that are not counted elsewhere. */
  get uncounted(): number {
    return this.#counted ? 0 : this.bytes;
  }

  /** Writes the text as JSON, without quotes, piece by piece into `out`. A piece is valid until the next one is requested. */
  pieces(out: Buffer): Iterable<Uint8Array> {
    return this.#writing.pieces(out);
  }

  /** Gives back its memory, after which it cannot be written any more. */
  release(): void {
    this.#loan?.end();
  }

  toString(): string {
    return this.#writing.toString();
  }

  toJSON(): string {
    return aside === undefined ? this.toString() : `${MARK} ${aside.push(this)}`;
  }
}

/** Returns the JSON that `write` makes with `JSON.stringify`, split into strings and long texts in order. */
export function withLongTexts(write: () => string): readonly (string | LongText)[] {
  const texts: LongText[] = [];
  aside = texts;
  let json: string;
  try {
    json = write();
  } finally {
    aside = undefined;
  }
  const parts: (string | LongText)[] = [];
  let from = 0;
  for (const [index, text] of texts.entries()) {
    const mark = `${MARK} ${index + 1}`;
    const at = json.indexOf(mark, from);
    parts.push(json.slice(from, at), text);
    from = at + mark.length;
  }
  return [...parts, json.slice(from)];
}

/** Makes a long text of UTF-8. @param loan the memory that holds the parts, wholly or partly */
export const longUtf8 = (parts: Parts, loan?: Loan): LongText => new LongText(writingUtf8(parts), loan);

const writingUtf8 = (parts: Parts): Writing => ({
  bytes: parts.reduce((sum, part) => sum + part.byteLength + escapesIn(part), 0),
  *pieces(out) {
    for (const part of parts) {
      for (let from = 0; from < part.byteLength; ) {
        const { read, written } = escaped(part, from, out);
        yield out.subarray(0, written);
        from = read;
      }
    }
  },
  toString: () => Buffer.concat(parts).toString('utf8'),
});

/** Makes a long text that is these bytes in base64. */
export const longBase64 = (parts: Parts, loan?: Loan): LongText =>
  new LongText(
    {
      bytes: Math.ceil(parts.reduce((sum, part) => sum + part.byteLength, 0) / 3) * 4,
      *pieces(out) {
        /** Up to two bytes left over from the last part, since base64 takes three at a time. */
        let rest = Buffer.alloc(0);
        const most = Math.floor(out.byteLength / 4) * 3;
        for (const part of parts) {
          const missing = rest.byteLength === 0 ? 0 : 3 - rest.byteLength;
          rest = Buffer.concat([rest, part.subarray(0, missing)]);
          if (rest.byteLength === 3) yield base64Into(out, rest);
          if (rest.byteLength === 3) rest = Buffer.alloc(0);
          let from = missing;
          for (; part.byteLength - from >= 3; ) {
            const to = Math.min(from + most, part.byteLength - ((part.byteLength - from) % 3));
            yield base64Into(out, part.subarray(from, to));
            from = to;
          }
          rest = Buffer.concat([rest, part.subarray(from)]);
        }
        if (rest.byteLength > 0) yield base64Into(out, rest);
      },
      toString: () => Buffer.concat(parts).toString('base64'),
    },
    loan,
  );

const encoder = new TextEncoder();

/** Makes a long text of a string; a string with a lone surrogate has no UTF-8 and stays unchanged. */
export function longString(text: string): LongText | string {
  if (!text.isWellFormed()) return text;
  const loan = new Loan();
  const parts: Uint8Array[] = [];
  for (let at = 0; at < text.length; ) {
    const block = loan.take();
    // Half a surrogate pair at the end of the slice would need three bytes; each character before it takes at least one.
    const { read, written } = encoder.encodeInto(text.slice(at, at + block.byteLength), block);
    loan.filled(block);
    parts.push(block.subarray(0, written));
    at += read;
  }
  return new LongText(writingUtf8(parts), loan, false);
}

/** Bytes that are written as base64 by way of one string. Larger strings would stay in memory longer. */
const BASE64_STEP = 3 * 1024;

function base64Into(out: Buffer, bytes: Uint8Array): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let written = 0;
  for (let from = 0; from < buffer.byteLength; from += BASE64_STEP) {
    written += out.write(buffer.toString('base64', from, from + BASE64_STEP), written, 'latin1');
  }
  return out.subarray(0, written);
}

/** The character after the backslash in JSON for each byte: `u` without a short escape; 0 for a byte that is not escaped. */
const LETTERS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const json = JSON.stringify(String.fromCharCode(byte));
  return json.length === 3 ? 0 : json.charCodeAt(2);
});

const BACKSLASH = 0x5c;
const ZERO = 0x30;
const U = 0x75;
const HEX = Buffer.from('0123456789abcdef');

/** Whether any of four bytes needs an escape. Few do, so a text is checked four bytes at a time. */
function hasEscape(four: number): boolean {
  const quote = four ^ 0x22222222;
  const backslash = four ^ 0x5c5c5c5c;
  const low = (four - 0x20202020) & ~four;
  return ((low | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)) & 0x80808080) !== 0;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Returns how many bytes the escapes add in JSON. Only ASCII is escaped, so no escape splits a character. */
function escapesIn(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const fours = bytes.byteLength - 3;
  let escapes = 0;
  let at = 0;
  for (; at < fours; at += 4) {
    if (!hasEscape(view.getInt32(at))) continue;
    for (let each = at; each < at + 4; each++) escapes += escapesOf(view.getUint8(each));
  }
  for (; at < fours + 3; at++) escapes += escapesOf(view.getUint8(at));
  return escapes;
}

function escapesOf(byte: number): number {
  const letter = LETTERS[byte];
  return letter === 0 ? 0 : letter === U ? 5 : 1;
}

/** Writes bytes as JSON, from a position, as many as fit. */
function escaped(bytes: Uint8Array, from: number, out: Buffer): { readonly read: number; readonly written: number } {
  const view = viewOf(bytes);
  const into = viewOf(out);
  const fours = bytes.byteLength - 3;
  // Four bytes become at most twenty-four.
  const room = out.byteLength - 24;
  let read = from;
  let written = 0;
  const one = (byte: number): void => {
    const letter = LETTERS[byte] as number;
    if (letter === 0) {
      into.setUint8(written++, byte);
      return;
    }
    into.setUint8(written++, BACKSLASH);
    into.setUint8(written++, letter);
    if (letter !== U) return;
    into.setUint8(written++, ZERO);
    into.setUint8(written++, ZERO);
    into.setUint8(written++, HEX[byte >> 4] as number);
    into.setUint8(written++, HEX[byte & 15] as number);
  };
  for (; read < fours && written <= room; read += 4) {
    const four = view.getInt32(read);
    if (hasEscape(four)) {
      for (let each = read; each < read + 4; each++) one(view.getUint8(each));
    } else {
      into.setInt32(written, four);
      written += 4;
    }
  }
  for (; read >= fours && read < bytes.byteLength && written <= room; read++) one(view.getUint8(read));
  return { read, written };
}

/** Whether the parts together are UTF-8. */
export function isUtf8Text(parts: Parts): boolean {
  /** The beginning of a character that continues in the next part. */
  let begun: Uint8Array = Buffer.alloc(0);
  for (const part of parts) {
    const lead = begun.byteLength === 0 ? 0 : leadingPartBytes(part);
    const first = Buffer.concat([begun, part.subarray(0, lead)]);
    const rest = part.subarray(lead);
    if (rest.byteLength === 0) {
      begun = first;
      // No character has that many bytes.
      if (begun.byteLength > 4) return false;
      continue;
    }
    const end = rest.byteLength - trailingPartBytes(rest);
    if (!isUtf8(first) || !isUtf8(rest.subarray(0, end))) return false;
    begun = rest.subarray(end);
  }
  return isUtf8(begun);
}
