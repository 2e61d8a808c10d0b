import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cut, cutWindow } from './cut.ts';
import type { Slice } from './slice.ts';

/** Makes the slice that `readSlice` would return for these bytes. */
function sliceAt(whole: Buffer, offset: number, length: number, mimeType = 'text/plain'): Slice {
  const before = Math.min(offset, 3);
  const bytes = whole.subarray(offset - before, offset + length + 3);
  return {
    resource: { uri: 'x:y', name: 'y', mimeType },
    bytes,
    offset,
    before,
    total: whole.byteLength,
    ended: offset - before + bytes.byteLength === whole.byteLength,
  };
}

const cutAt = (whole: Buffer, offset: number, most: number, mimeType?: string): Cut =>
  cutWindow(sliceAt(whole, offset, most, mimeType), { text: most, base64: most });

/** Windows from the start to the end, each from the end of the one before. */
function chain(whole: Buffer, most: number, mimeType?: string): Cut[] {
  const cuts: Cut[] = [];
  for (let at = 0; at < whole.byteLength; ) {
    const cut = cutAt(whole, at, most, mimeType);
    expect(cut.start).toBe(at);
    expect(cut.bytes.byteLength).toBeGreaterThan(0);
    expect(cut.bytes.byteLength).toBeLessThanOrEqual(most);
    cuts.push(cut);
    at += cut.bytes.byteLength;
  }
  return cuts;
}

const text = fc
  .array(fc.constantFrom('a', '\n', 'é', '–', '日', '😀', '\u0301', '\ufeff', '\u0000'), { maxLength: 60 })
  .map((characters) => Buffer.from(characters.join('')));
const windowSize = fc.integer({ min: 4, max: 24 });

describe('cutting a window [CB-3]', () => {
  it('gives all of a text, in pieces that are valid text', () => {
    fc.assert(
      fc.property(text, windowSize, (whole, most) => {
        const cuts = chain(whole, most);
        expect(cuts.every(({ kind }) => kind === 'text')).toBe(true);
        expect(cuts.map(({ bytes }) => bytes.toString('utf8')).join('')).toBe(whole.toString('utf8'));
      }),
    );
  });

  it.each(['text/plain', 'application/octet-stream'])('gives every byte of any content once, as %s', (mimeType) => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .array(fc.oneof(text, fc.uint8Array({ maxLength: 4 })), { maxLength: 8 })
        .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part)))),
    );
    fc.assert(
      fc.property(anything, windowSize, (whole, most) => {
        const bytes = Buffer.concat(chain(whole, most, mimeType).map((cut) => cut.bytes));
        expect(bytes.equals(whole)).toBe(true);
      }),
    );
  });

  it('begins after a character that the offset is inside of', () => {
    fc.assert(
      fc.property(text, fc.nat(240), windowSize, (whole, at, most) => {
        const offset = Math.min(at, whole.byteLength);
        const cut = cutAt(whole, offset, most);
        const before = whole.subarray(0, cut.start).toString('utf8');
        expect(cut.start - offset).toBeLessThanOrEqual(3);
        expect(whole.toString('utf8').startsWith(before + cut.bytes.toString('utf8'))).toBe(true);
        if (offset < whole.byteLength && cut.start < whole.byteLength) expect(cut.bytes.byteLength).toBeGreaterThan(0);
      }),
    );
  });

  it('skips the rest of a character, and no bytes that only look like it', () => {
    // 0xb0 is a degree sign in Latin-1; after an ASCII letter it continues no character.
    const latin = Buffer.from('aaaa\u00b0bbb', 'latin1');
    expect(cutAt(latin, 4, 4)).toEqual({ kind: 'base64', start: 4, bytes: Buffer.from('\u00b0bbb', 'latin1') });
    const utf8 = Buffer.from('aaa°bbb');
    expect(cutAt(utf8, 4, 4)).toEqual({ kind: 'text', start: 5, bytes: Buffer.from('bbb') });
  });

  it('ends base64 of a text type between characters, so that the next window can be text', () => {
    const mixed = Buffer.concat([Buffer.from([0xff]), Buffer.from('aaé'), Buffer.from('plain text')]);
    const [first, second] = chain(mixed, 4);
    expect(first).toMatchObject({ kind: 'base64', bytes: mixed.subarray(0, 3) });
    expect(second).toMatchObject({ kind: 'text', start: 3 });
  });

  it('cuts binary types at any byte', () => {
    const cut = cutAt(Buffer.from('éééé'), 0, 5, 'application/pdf');
    expect(cut).toEqual({ kind: 'base64', start: 0, bytes: Buffer.from('éééé').subarray(0, 5) });
  });

  it('has one limit for text, and another one for base64', () => {
    const slice = sliceAt(Buffer.alloc(100, 0x80), 0, 40);
    expect(cutWindow(slice, { text: 40, base64: 30 }).bytes.byteLength).toBe(30);
    expect(cutWindow(sliceAt(Buffer.alloc(100, 97), 0, 40), { text: 40, base64: 30 }).bytes.byteLength).toBe(40);
  });

  it('gives a character that the text ends inside of as bytes, and never as text', () => {
    const cut = Buffer.from('abcé').subarray(0, 4);
    expect(cutAt(cut, 0, 10)).toMatchObject({ kind: 'base64', bytes: cut });
    expect(cutAt(Buffer.alloc(0), 0, 10)).toMatchObject({ kind: 'text', bytes: Buffer.alloc(0) });
  });
});
