import { describe, expect, it } from 'vitest';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import { HEAD_BYTES, verifyType } from './verify.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'));
const bytes = (...values: (number | string)[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(values.map((v) => (typeof v === 'string' ? Buffer.from(v, 'latin1') : Buffer.from([v])))),
  );
const padded = (start: Uint8Array, length: number): Uint8Array => {
  const whole = new Uint8Array(length);
  whole.set(start);
  return whole;
};

const PNG = bytes(
  ...[0x89, 'PNG\r\n', 0x1a, '\n', 0, 0, 0, 13, 'IHDR', 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89],
  ...[0, 0, 0, 0, 'IDAT', 0, 0, 0, 0],
);
const JPEG = bytes(0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 'JFIF', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0);
const GIF = bytes('GIF89a', 1, 0, 1, 0, 0x80, 0, 0);
const GZIP = bytes(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
const WAV = bytes('RIFF', 0x24, 0, 0, 0, 'WAVEfmt ', 16, 0, 0, 0);

/** A local file header of a zip archive. The name in it decides the type of archive. */
const zipOf = (name: string, content = ''): Uint8Array => {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt32LE(content.length, 22);
  header.writeUInt16LE(name.length, 26);
  const end = Buffer.from([0x50, 0x4b, 0x05, 0x06, ...new Array<number>(18).fill(0)]);
  return new Uint8Array(Buffer.concat([header, Buffer.from(name), Buffer.from(content), end]));
};

/** Packets of 188 bytes, each beginning with the sync byte. */
const MPEG_TS = ((): Uint8Array => {
  const stream = new Uint8Array(188 * 10).fill(0xff);
  for (let at = 0; at < stream.length; at += 188) stream.set([0x47, 0x40, 0x11, 0x10, 0x00], at);
  return stream;
})();

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

type Case = readonly [what: string, name: string, content: Uint8Array, expected: string | undefined];

const CASES: readonly Case[] = [
  ['text', 'notes.txt', utf8('Hello'), 'text/plain'],
  ['text without a known name', 'notes', utf8('Hello'), 'text/plain'],
  ['Markdown', 'notes.md', utf8('# Hello'), 'text/markdown'],
  ['nothing at all', 'empty.txt', new Uint8Array(), 'text/plain'],
  ['nothing at all, named .png', 'empty.png', new Uint8Array(), 'image/png'],
  ['nothing at all, without a known name', 'empty', new Uint8Array(), undefined],
  ['PNG', 'picture.png', PNG, 'image/png'],
  ['PNG named .txt', 'picture.txt', PNG, 'image/png'],
  ['PNG named .jpg', 'picture.jpg', PNG, 'image/png'],
  ['PNG named .html', 'picture.html', PNG, 'image/png'],
  ['PNG without a known name', 'picture', PNG, 'image/png'],
  ['JPEG named .png', 'picture.png', JPEG, 'image/jpeg'],
  ['GIF', 'picture.gif', GIF, 'image/gif'],
  ['text named .png', 'not-really.png', utf8('I am a picture, honestly'), 'text/plain'],
  ['noise named .png', 'noise.png', bytes(0, 1, 2, 3, 0xfe, 4, 5, 6, 7, 8), 'application/octet-stream'],
  ['Latin-1 text', 'letter.txt', latin1('Der Schlüssel kostet 5 £'), 'text/plain'],
  ['Latin-1 text without a known name', 'letter', latin1('Der Schlüssel'), 'text/plain'],
  ['UTF-16 LE with a byte-order mark', 'wide.txt', bytes(0xff, 0xfe, 'H', 0, 'i', 0), 'text/plain'],
  ['UTF-16 BE with a byte-order mark', 'wide.txt', bytes(0xfe, 0xff, 0, 'H', 0, 'i'), 'text/plain'],
  ['UTF-16 LE of another script', 'wide.txt', utf16('Ключ 😀 日本語'), 'text/plain'],
  ['UTF-16 LE named .csv', 'wide.csv', utf16('a;b;c'), 'text/csv'],
  ['UTF-16 LE without a known name', 'wide', utf16('Hello'), 'text/plain'],
  ['MPEG audio that begins like a byte-order mark', 'tone.mp3', bytes(0xff, 0xfe, 0x90, 0, 0, 0, 0, 0), 'audio/mpeg'],
  ['UTF-8 with a byte-order mark', 'marked.csv', bytes(0xef, 0xbb, 0xbf, 'a,b'), 'text/csv'],
  ['NUL bytes named .txt', 'core.txt', bytes('abc', 0, 1, 2, 0, 0x80, 'def'), 'application/octet-stream'],
  ['NUL bytes without a known name', 'core', bytes('abc', 0, 1, 2, 0, 'def'), 'application/octet-stream'],
  ['a PDF of ASCII alone', 'leaflet.pdf', utf8('%PDF-1.4\n1 0 obj\n<<>>\nendobj\n'), 'application/pdf'],
  ['a PDF named .txt', 'leaflet.txt', utf8('%PDF-1.4\n1 0 obj\n'), 'application/pdf'],
  ['text named .pdf', 'leaflet.pdf', utf8('This was to be a leaflet'), 'text/plain'],
  ['zip', 'letters.zip', zipOf('letter.txt', 'hello'), 'application/zip'],
  ['zip named .txt', 'letters.txt', zipOf('letter.txt', 'hello'), 'application/zip'],
  ['docx', 'letter.docx', zipOf('[Content_Types].xml', '<?xml version="1.0"?>'), DOCX],
  ['zip named .docx', 'letter.docx', zipOf('letter.txt', 'hello'), DOCX],
  ['gzip', 'ledger.txt.gz', GZIP, 'application/gzip'],
  ['WAV', 'tick.wav', WAV, 'audio/wav'],
  ['TypeScript', 'index.ts', utf8('export const a = 1;\n'), 'text/typescript'],
  ['an MPEG stream named .ts', 'film.ts', MPEG_TS, 'video/mp2t'],
  ['what looks like HTML, named .txt', 'page.txt', utf8('<!doctype html><script>alert(1)</script>'), 'text/plain'],
  ['what looks like HTML, without a known name', 'page', utf8('<html><body>hi</body></html>'), 'text/plain'],
  ['what looks like HTML, named .png', 'page.png', utf8('<html><script>alert(1)</script></html>'), 'text/plain'],
  ['a script without a known name', 'run', utf8('#!/bin/sh\nexit 0\n'), 'text/plain'],
  ['HTML', 'page.html', utf8('<p>hi</p>'), 'text/html'],
  ['SVG', 'drawing.svg', utf8('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  ['SVG named .png', 'drawing.png', utf8('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'text/plain'],
  ['XML', 'data.xml', utf8('<?xml version="1.0"?><a/>'), 'application/xml'],
  ['JSON', 'data.json', utf8('{"a": 1}'), 'application/json'],
  ['JSON that is none', 'data.json', utf8('no, not JSON'), 'application/json'],
  ['text with escape sequences', 'colours.log', utf8('\u001b[31mred\u001b[0m\n'), 'text/plain'],
];

describe('a declared type, verified by the bytes [SEC-RES-6]', () => {
  for (const [what, name, content, expected] of CASES) {
    it(`${what} (${name}) is ${expected ?? 'without a type'}`, async () => {
      expect(await verifyType(mimeTypeOfName(name), content, true)).toBe(expected);
    });
  }

  it('stays the same when it is verified again', async () => {
    for (const [, name, content] of CASES) {
      const once = await verifyType(mimeTypeOfName(name), content, true);
      expect(await verifyType(once, content, true), name).toBe(once);
    }
  });

  it('does not depend on where the head cuts a character', async () => {
    for (let start = 0; start < 4; start++) {
      const text = utf8('x'.repeat(start) + '日😀é'.repeat(1_000)).subarray(0, HEAD_BYTES);
      expect(await verifyType('text/markdown', text, false)).toBe('text/markdown');
      expect(await verifyType('image/png', text, false)).toBe('text/plain');
    }
  });

  it('is not replaced by a type of text if a character is cut at the end of the whole content', async () => {
    expect(await verifyType('application/json', utf8('日').subarray(0, 2), true)).toBe('application/json');
    expect(await verifyType('image/png', utf8('日').subarray(0, 2), true)).toBe('application/octet-stream');
  });

  it('does not depend on where the head cuts a character of UTF-16', async () => {
    const cut = utf16('😀'.repeat(HEAD_BYTES)).subarray(0, HEAD_BYTES);
    expect(await verifyType('text/plain', cut, false)).toBe('text/plain');
  });

  it('is not found for a content so short that it would match only if zeros followed it', async () => {
    for (const short of [
      [0, 1],
      [0, 1, 0],
      [0, 1, 0, 0],
    ])
      expect(await verifyType(undefined, bytes(...short), true)).toBe('application/octet-stream');
    expect(await verifyType('image/x-icon', bytes(0, 0, 1), true)).toBe('image/x-icon');
    // Short contents that are complete are recognised.
    expect(await verifyType(undefined, JPEG, true)).toBe('image/jpeg');
    expect(await verifyType(undefined, GZIP, true)).toBe('application/gzip');
    expect(await verifyType(undefined, bytes(0, 1, 0, 0, 0, 9, 0, 0x80), true)).toBe('font/ttf');
  });

  it('is found in spite of a long tail of zeros', async () => {
    expect(await verifyType('text/plain', padded(PNG, HEAD_BYTES), false)).toBe('image/png');
    expect(await verifyType('text/plain', padded(utf8('text'), HEAD_BYTES), false)).toBe('application/octet-stream');
  });
});
