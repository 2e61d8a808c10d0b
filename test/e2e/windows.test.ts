/** Windows of a resource, and the size limit that makes them necessary. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, failure, type Item, read, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, MATRIX } from './harness.ts';

const LIMIT = 100_000;
/** Characters of one to four bytes, so that no window size is a multiple of all of them. */
const TEXT = 'a£–😀 naïve 日本語\n'.repeat(12_000);
const BYTES = Buffer.from(Array.from({ length: 250_000 }, (_, index) => (index * 7919) % 251));

describe.each(MATRIX)('windows over $transport, $era', ({ transport, era }) => {
  let folder: Folder;
  let server: Connected;
  beforeAll(async () => {
    folder = await temporaryFolder({
      'data/story.txt': TEXT,
      'data/noise.bin': BYTES,
      'data/small.txt': 'small: é',
      'data/fits.txt': 'x'.repeat(LIMIT),
      'data/over.txt': 'x'.repeat(LIMIT + 1),
      'data/empty.txt': '',
    });
    const config = await writeConfig(folder, { limits: { maxReadBytes: LIMIT }, mounts: { data: './data' } });
    server = await connect(transport, era, ['--config', config]);
  });
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it.each([
    ['text', 'story.txt', Buffer.from(TEXT), 9_973],
    ['text, in windows that end on a boundary', 'story.txt', Buffer.from(TEXT), LIMIT],
    ['bytes', 'noise.bin', BYTES, 65_537],
  ])('puts a large file together again: %s [2093-6, RES-2, SEC-RES-3]', async (_, name, expected, length) => {
    const parts: Buffer[] = [];
    for (let offset = 0; offset < expected.byteLength; ) {
      const item = await readOne(server, `data+file:///${name}`, { offset, length });
      const window = windowOf(item);
      expect(window).toMatchObject({ offset, total: expected.byteLength });
      expect(window.length).toBe(bytesOf(item).byteLength);
      expect(window.length).toBeGreaterThan(0);
      expect(item.size).toBe(expected.byteLength);
      expect(name.endsWith('.txt') ? item.text : item.blob).toBeTypeOf('string');
      expect(item.text ?? '').not.toContain('\ufffd');
      parts.push(bytesOf(item));
      offset += window.length;
    }
    expect(Buffer.concat(parts).equals(expected)).toBe(true);
  });

  it('never splits a character, wherever a window begins and ends [RES-2]', async () => {
    const whole = Buffer.from(TEXT);
    for (let offset = 0; offset < 24; offset++) {
      for (const length of [7, 8, 10]) {
        const item = await readOne(server, 'data+file:///story.txt', { offset, length });
        const window = windowOf(item);
        expect(window.offset).toBeGreaterThanOrEqual(offset);
        expect(window.offset + window.length).toBeLessThanOrEqual(offset + length);
        const expected = whole.subarray(window.offset, window.offset + window.length);
        expect(bytesOf(item).equals(expected)).toBe(true);
      }
    }
  });

  it('refuses a window without room for one character, and says how much room is needed [RES-6]', async () => {
    const at = TEXT.indexOf('😀');
    const emoji = Buffer.byteLength(TEXT.slice(0, at));
    const refused = await failure(read(server, 'data+file:///story.txt', { offset: emoji, length: 3 }));
    expect(refused).toMatchObject({ code: -32602, message: expect.stringContaining('at least 4 bytes') });
    expect(await readOne(server, 'data+file:///story.txt', { offset: emoji, length: 4 })).toMatchObject({ text: '😀' });
  });

  it('gives the rest without a length, and everything without both', async () => {
    expect(await readOne(server, 'data+file:///small.txt', { offset: 7 })).toMatchObject({
      text: 'é',
      size: 9,
      _meta: { 'vitrine/window': { offset: 7, length: 2, total: 9 } },
    });
    expect(await readOne(server, 'data+file:///small.txt', {})).toMatchObject({
      text: 'small: é',
      _meta: { 'vitrine/window': { offset: 0, length: 9, total: 9 } },
    });
  });

  it('gives the existing part of a window that goes past the end, and nothing at the end', async () => {
    expect(await readOne(server, 'data+file:///small.txt', { offset: 5, length: 1_000 })).toMatchObject({
      text: ': é',
    });
    expect(await readOne(server, 'data+file:///small.txt', { offset: 9, length: 10 })).toMatchObject({
      text: '',
      _meta: { 'vitrine/window': { offset: 9, length: 0, total: 9 } },
    });
    expect(await readOne(server, 'data+file:///empty.txt', { offset: 0, length: 10 })).toMatchObject({ text: '' });
  });

  it.each([
    ['begins past the end', { offset: 10 }, /past the end.*9 bytes/],
    ['has a negative offset', { offset: -1 }, /./],
    ['has no length', { length: 0 }, /./],
    ['begins at a fraction', { offset: 0.5 }, /./],
    ['is given as text', { offset: '1' }, /./],
  ])('refuses a window that %s [RES-6]', async (_, window, message) => {
    const params = { uri: 'data+file:///small.txt', _meta: { 'vitrine/range': window } };
    const refused = await failure(server.request('resources/read', params));
    expect(refused).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
  });

  it('reads a resource of exactly the limit [SEC-RES-3]', async () => {
    expect((await readOne(server, 'data+file:///fits.txt')).text).toHaveLength(LIMIT);
  });

  it('refuses a resource that is one byte larger, and says size, limit and how to go on [SEC-RES-3, RES-6]', async () => {
    const uri = 'data+file:///over.txt';
    const refused = await failure(read(server, uri));
    expect(refused).toMatchObject({
      code: -32602,
      message: expect.stringContaining('vitrine/range'),
      data: { uri, reason: 'too-large', limit: LIMIT, size: LIMIT + 1 },
    });
    // The window in the message works.
    const example = /\{"vitrine\/range": (\{[^}]*\})\}/.exec(refused.message)?.[1] ?? '';
    expect((await readOne(server, uri, JSON.parse(example))).text).toHaveLength(LIMIT);
  });

  it('refuses a window that is too large [SEC-RES-3]', async () => {
    const refused = await failure(read(server, 'data+file:///noise.bin', { offset: 0, length: LIMIT + 1 }));
    expect(refused).toMatchObject({ code: -32602, data: { reason: 'too-large', limit: LIMIT } });
  });
});

interface Window {
  readonly offset: number;
  readonly length: number;
  readonly total: number;
}

const windowOf = (item: Item): Window => item._meta?.['vitrine/window'] as Window;
