import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBinaryType, leadingPartBytes, trailingPartBytes } from './text.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('where UTF-8 may be cut', () => {
  it.each([
    ['a', [0, 0]],
    ['é', [0, 1, 0]],
    ['日', [0, 1, 2, 0]],
    ['😀', [0, 1, 2, 3, 0]],
    ['a😀', [0, 0, 1, 2, 3, 0]],
    ['日é', [0, 1, 2, 0, 1, 0]],
  ])('%s: the bytes at the end that go on behind a cut', (text, expected) => {
    const bytes = utf8(text);
    expect(Array.from({ length: bytes.byteLength + 1 }, (_, cut) => trailingPartBytes(bytes.subarray(0, cut)))).toEqual(
      expected,
    );
  });

  it.each([
    ['a', [0, 0]],
    ['é', [0, 1, 0]],
    ['日', [0, 2, 1, 0]],
    ['😀', [0, 3, 2, 1, 0]],
    ['a😀b', [0, 0, 3, 2, 1, 0, 0]],
  ])('%s: the bytes at the start that began before a cut', (text, expected) => {
    const bytes = utf8(text);
    expect(Array.from({ length: bytes.byteLength + 1 }, (_, cut) => leadingPartBytes(bytes.subarray(cut)))).toEqual(
      expected,
    );
  });

  it('any two cuts of any text leave whole characters between them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), fc.nat(), (text, one, other) => {
        const bytes = utf8(text);
        const [from, to] = [one % (bytes.byteLength + 1), other % (bytes.byteLength + 1)].sort((a, b) => a - b);
        const window = bytes.subarray(from, to);
        const start = leadingPartBytes(window);
        const whole = window.subarray(start, Math.max(start, window.byteLength - trailingPartBytes(window)));
        expect(isUtf8(whole)).toBe(true);
        expect(window.byteLength - whole.byteLength).toBeLessThanOrEqual(6);
        expect(text).toContain(Buffer.from(whole).toString('utf8'));
      }),
    );
  });

  it('a text read in windows, each from where the last one ended, is whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: 4, max: 9 }), (text, length) => {
        const bytes = utf8(text);
        let read = '';
        for (let at = 0; at < bytes.byteLength; ) {
          const window = bytes.subarray(at, at + length);
          const atEnd = at + length >= bytes.byteLength;
          const end = window.byteLength - (atEnd ? 0 : trailingPartBytes(window));
          expect(leadingPartBytes(window)).toBe(0);
          read += Buffer.from(window.subarray(0, end)).toString('utf8');
          at += end;
        }
        expect(read).toBe(text);
      }),
    );
  });

  it('at most three bytes at either end of anything are a part of a character', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        for (const count of [leadingPartBytes(bytes), trailingPartBytes(bytes)]) {
          expect(count).toBeGreaterThanOrEqual(0);
          expect(count).toBeLessThanOrEqual(Math.min(3, bytes.byteLength));
        }
      }),
    );
  });
});

describe('types that are binary even where their bytes are valid UTF-8', () => {
  it.each([
    'image/png',
    'IMAGE/PNG',
    'image/jpeg',
    'audio/mpeg',
    'video/mp4',
    'font/woff2',
    'model/gltf-binary',
    'application/octet-stream',
    'application/pdf',
    'application/zip',
    'application/gzip',
    'application/wasm',
    'application/x-tar',
    'application/x-7z-compressed',
    'application/msword',
    'application/vnd.ms-excel',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.oasis.opendocument.text',
    'application/vnd.sqlite3',
    'application/epub+zip',
    'inode/directory',
  ])('%s is', (type) => expect(isBinaryType(type)).toBe(true));

  it.each([
    undefined,
    '',
    'text/plain',
    'text/html; charset=utf-8',
    'image/svg+xml',
    'application/json',
    'application/ld+json',
    'application/xml',
    'application/yaml',
    'application/toml',
    'application/javascript',
    'application/jsonl',
    'application/graphql',
    'application/x-ipynb+json',
    'message/rfc822',
  ])('%s is not', (type) => expect(isBinaryType(type)).toBe(false));
});
