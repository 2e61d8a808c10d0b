import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import type { ByteRange } from '../../core/provider.ts';
import { WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../protocol/resources.ts';
import { encodeBody, STRINGS } from './encode.ts';

const LIMIT = 1_000_000;
const URI = 'memory:///a';
const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');

const resourceOf = (parts: Partial<Resource> = {}): Resource => ({ uri: URI, name: 'a', ...parts });

const encode = (body: ResourceBody, range?: ByteRange, budget = LIMIT, ctx = createContext()) =>
  encodeBody(body, { budget, limit: LIMIT, range }, STRINGS, ctx);

/** Encodes bytes in memory as an item. */
const itemOf = async (bytes: Uint8Array, mimeType?: string): Promise<ResourceContents> => {
  const resource = resourceOf(mimeType === undefined ? {} : { mimeType });
  return (await encode({ resource, content: bytesOf(bytes) })).item;
};

interface Source {
  readonly body: ResourceBody;
  readonly state: { opened: number; chunks: number; ended: boolean };
}

/** A stream that counts how often it is opened, and how many chunks are read. */
function sourceOf(chunks: Iterable<Uint8Array>, parts: Partial<ResourceBody> & { size?: number } = {}): Source {
  const state = { opened: 0, chunks: 0, ended: false };
  const { size, ...rest } = parts;
  async function* open(): AsyncIterable<Uint8Array> {
    state.opened++;
    try {
      for (const chunk of chunks) {
        state.chunks++;
        yield chunk;
      }
    } finally {
      state.ended = true;
    }
  }
  return { body: { resource: resourceOf(), content: { kind: 'stream', size, open }, ...rest }, state };
}

function* endless(chunk: Uint8Array): Iterable<Uint8Array> {
  for (;;) yield chunk;
}

function* inChunks(bytes: Uint8Array, size: number): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

const windowOf = (item: ResourceContents): { offset: number; length: number; total?: number } =>
  item._meta?.[WINDOW_META_KEY] as { offset: number; length: number; total?: number };

const bytesIn = (item: ResourceContents): Buffer =>
  'text' in item ? utf8(item.text) : Buffer.from(item.blob, 'base64');

describe('text or blob [RES-2]', () => {
  it.each<[string, Uint8Array, string | undefined]>([
    ['UTF-8', utf8('Grüße, 日本 😀'), 'text/plain'],
    ['UTF-8 of no type', utf8('Grüße'), undefined],
    ['JSON', utf8('{"a":1}'), 'application/json'],
    ['SVG', utf8('<svg/>'), 'image/svg+xml'],
    ['UTF-8 of a type that nobody knows', utf8('abc'), 'application/x-unheard-of'],
    ['nothing', new Uint8Array(), 'text/plain'],
    ['control characters', utf8('\u001b[0m\u0000'), 'text/plain'],
    ['a byte-order mark and text', utf8('\ufeffa,b'), 'text/csv'],
  ])('%s becomes text, with every byte', async (_what, bytes, mimeType) => {
    const item = await itemOf(bytes, mimeType);
    expect(item).not.toHaveProperty('blob');
    expect('text' in item && utf8(item.text)).toEqual(Buffer.from(bytes));
  });

  it.each<[string, Uint8Array, string | undefined]>([
    ['Latin-1', Buffer.from('Grüße', 'latin1'), 'text/plain'],
    ['UTF-16', Buffer.from('\ufeffHi', 'utf16le'), 'text/plain'],
    ['half a character', utf8('日').subarray(0, 2), 'text/plain'],
    ['an overlong slash', Buffer.from([0xc0, 0xaf]), 'text/plain'],
    ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80]), 'text/plain'],
    ['a PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47]), 'image/png'],
    ['a PDF of ASCII', utf8('%PDF-1.4'), 'application/pdf'],
    ['an empty picture', new Uint8Array(), 'image/png'],
    ['unknown bytes that happen to be ASCII', utf8('abc'), 'application/octet-stream'],
  ])('%s becomes a blob, with every byte', async (_what, bytes, mimeType) => {
    const item = await itemOf(bytes, mimeType);
    expect(item).not.toHaveProperty('text');
    expect('blob' in item && Buffer.from(item.blob, 'base64')).toEqual(Buffer.from(bytes));
  });

  it('the byte-order mark of a text stays', async () => {
    expect(await itemOf(utf8('\ufeffa'), 'text/plain')).toMatchObject({ text: '\ufeffa' });
  });

  it('a part of a larger buffer is only that part', async () => {
    expect(await itemOf(utf8('before, this, after').subarray(8, 12))).toMatchObject({ text: 'this' });
    const { body } = sourceOf([utf8('before, this, after').subarray(8, 12)]);
    expect((await encode(body)).item).toMatchObject({ text: 'this' });
  });

  it('a character across two chunks is one character', async () => {
    const { body } = sourceOf(inChunks(utf8('日本😀'), 1));
    expect((await encode(body)).item).toMatchObject({ text: '日本😀' });
  });

  it('the item has all fields of the resource, and its size is that before base64 [2093-1]', async () => {
    const resource = resourceOf({
      title: 'A',
      description: 'An a',
      mimeType: 'image/png',
      size: 3,
      icons: [{ src: 'data:,' }],
      annotations: { lastModified: '2026-01-01T00:00:00.000Z' },
      capabilities: { list: false, subscribe: true },
      _meta: { 'example/kept': 1 },
    });
    const { item, bytes } = await encode({ resource, content: bytesOf(new Uint8Array([1, 2, 3])) });
    expect(item).toEqual({ ...resource, blob: 'AQID' });
    expect(bytes).toBe(3);
  });
});

describe('the budget of a read [SEC-RES-3]', () => {
  it('is used up to the last byte, and not beyond', async () => {
    const { body } = sourceOf(inChunks(Buffer.alloc(100), 7));
    expect((await encode(body, undefined, 100)).bytes).toBe(100);
    await expect(encode(sourceOf(inChunks(Buffer.alloc(101), 7)).body, undefined, 100)).rejects.toMatchObject({
      code: 'too-large',
      uri: URI,
      details: { limit: LIMIT },
    });
  });

  it('ends a stream as soon as it is exceeded', async () => {
    const { body, state } = sourceOf(endless(Buffer.alloc(40)));
    await expect(encode(body, undefined, 100)).rejects.toMatchObject({ code: 'too-large' });
    expect(state).toEqual({ opened: 1, chunks: 3, ended: true });
  });

  it('refuses a known size without opening anything', async () => {
    const { body, state } = sourceOf(endless(Buffer.alloc(40)), { size: 101, resource: resourceOf({ size: 101 }) });
    await expect(encode(body, undefined, 100)).rejects.toMatchObject({ code: 'too-large', details: { size: 101 } });
    expect(state.opened).toBe(0);
    await expect(
      encode({ resource: resourceOf(), content: bytesOf(Buffer.alloc(101)) }, undefined, 100),
    ).rejects.toThrow(/read it in windows/);
  });

  it('applies even if the declared size is wrong', async () => {
    const { body, state } = sourceOf(endless(Buffer.alloc(40)), { size: 10 });
    await expect(encode(body, undefined, 100)).rejects.toMatchObject({ code: 'too-large' });
    expect(state.ended).toBe(true);
  });

  it('counts the kept bytes: a window of a resource without windows skips those before it', async () => {
    const { body, state } = sourceOf(endless(Buffer.alloc(40)));
    expect((await encode(body, { offset: 1_000, length: 100 }, 100)).bytes).toBe(100);
    expect(state).toEqual({ opened: 1, chunks: 28, ended: true });
    await expect(
      encode(sourceOf(endless(Buffer.alloc(40))).body, { offset: 0, length: 101 }, 100),
    ).rejects.toMatchObject({
      code: 'too-large',
    });
  });

  it('is not needed to end a stream: it also ends when its caller has left [RES-7]', async () => {
    const caller = new AbortController();
    function* chunks(): Iterable<Uint8Array> {
      yield Buffer.alloc(1);
      caller.abort(new Error('The caller is gone'));
      yield* endless(Buffer.alloc(1));
    }
    const { body, state } = sourceOf(chunks());
    await expect(encode(body, undefined, LIMIT, createContext({ signal: caller.signal }))).rejects.toThrow(
      'caller is gone',
    );
    expect(state).toMatchObject({ chunks: 2, ended: true });
  });
});

/** A body as a provider with windows gives it. */
const cutBy = (whole: Uint8Array, { offset, length }: ByteRange, parts: Partial<Resource> = {}): ResourceBody => ({
  resource: resourceOf({ size: whole.byteLength, ...parts }),
  content: bytesOf(whole.subarray(offset, length === undefined ? undefined : offset + length)),
  window: { offset, total: whole.byteLength },
});

describe('a window [CB-3]', () => {
  it('has its place, its length and the total', async () => {
    const { item } = await encode(cutBy(utf8('0123456789'), { offset: 2, length: 3 }), { offset: 2, length: 3 });
    expect(item).toMatchObject({
      text: '234',
      size: 10,
      _meta: { [WINDOW_META_KEY]: { offset: 2, length: 3, total: 10 } },
    });
  });

  it('keeps the other `_meta` of the resource', async () => {
    const range = { offset: 0, length: 1 };
    const { item } = await encode(cutBy(utf8('ab'), range, { _meta: { 'example/kept': 1 } }), range);
    expect(item._meta).toEqual({ 'example/kept': 1, [WINDOW_META_KEY]: { offset: 0, length: 1, total: 2 } });
  });

  it('never splits a character, and windows in a row are the whole text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.integer({ min: 4, max: 9 }),
        async (text, length) => {
          const whole = utf8(text);
          let read = '';
          for (let offset = 0; offset < whole.byteLength; ) {
            const range = { offset, length };
            const { item } = await encode(cutBy(whole, range, { mimeType: 'text/plain' }), range);
            const window = windowOf(item);
            expect(window.offset).toBe(offset);
            read += 'text' in item ? item.text : '(a blob)';
            offset += window.length;
          }
          expect(read).toBe(text);
        },
      ),
    );
  });

  it('that ends inside a character is shortened by that part; one that begins there is bytes', async () => {
    const whole = utf8('a日b');
    const cut = async (offset: number, length: number) => {
      const { item } = await encode(cutBy(whole, { offset, length }), { offset, length });
      return [bytesIn(item).toString('utf8'), windowOf(item).offset, windowOf(item).length];
    };
    expect(await cut(0, 2)).toEqual(['a', 0, 1]);
    expect(await cut(0, 3)).toEqual(['a', 0, 1]);
    expect(await cut(0, 4)).toEqual(['a日', 0, 4]);
    for (const offset of [2, 3]) {
      const { item } = await encode(cutBy(whole, { offset, length: 2 }), { offset, length: 2 });
      expect(item).toHaveProperty('blob', Buffer.from(whole.subarray(offset, offset + 2)).toString('base64'));
    }
  });

  it('of text in another encoding has every byte once', async () => {
    const whole = Buffer.from('ab\u00bbcd\u00e9\u00bf', 'latin1');
    const parts: Buffer[] = [];
    for (let offset = 0; offset < whole.byteLength; ) {
      const range = { offset, length: 4 };
      const { item } = await encode(cutBy(whole, range, { mimeType: 'text/plain' }), range);
      parts.push('text' in item ? Buffer.from(item.text) : Buffer.from(item.blob, 'base64'));
      offset += windowOf(item).length;
    }
    expect(Buffer.concat(parts)).toEqual(whole);
  });

  it('that has only a part of a character is refused, with advice', async () => {
    const whole = utf8('😀😀');
    const range = { offset: 0, length: 3 };
    await expect(encode(cutBy(whole, range), range)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/at least 4 bytes/),
    });
  });

  it('of binary content decodes alone, and all windows together are the whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (bytes, length) => {
          const parts: Buffer[] = [];
          for (let offset = 0; offset < bytes.byteLength; offset += length) {
            const range = { offset, length };
            const { item } = await encode(cutBy(bytes, range, { mimeType: 'image/png' }), range);
            expect(item).toHaveProperty('blob');
            expect(windowOf(item)).toEqual({ offset, length: bytesIn(item).byteLength, total: bytes.byteLength });
            parts.push(bytesIn(item));
          }
          expect(Buffer.concat(parts)).toEqual(Buffer.from(bytes));
        },
      ),
    );
  });

  it('at the end keeps an incomplete character, because nothing follows', async () => {
    const whole = Buffer.from([0x61, 0x62, 0xe6]);
    const range = { offset: 0, length: 100 };
    expect(bytesIn((await encode(cutBy(whole, range), range)).item)).toEqual(whole);
    expect(bytesIn((await encode(sourceOf([whole]).body, range)).item)).toEqual(whole);
    // Also if a provider that cuts windows does not give the total.
    const unknown: ResourceBody = { resource: resourceOf(), content: bytesOf(whole), window: { offset: 0 } };
    expect(bytesIn((await encode(unknown, range)).item)).toEqual(whole);
  });
});

describe('a window of a provider without windows', () => {
  const whole = utf8('aé日😀z');

  it('equals one of a provider with windows, for every window and every kind of content', async () => {
    const outcome = (body: ResourceBody, range: ByteRange) =>
      encode(body, range).catch((error: Error) => error.message);
    for (let offset = 0; offset <= whole.byteLength; offset++) {
      for (const length of [undefined, ...Array.from({ length: whole.byteLength + 2 }, (_, index) => index + 1)]) {
        const range = { offset, length };
        const expected = await outcome(cutBy(whole, range), range);
        const resource = resourceOf({ size: whole.byteLength });
        const what = `${offset}+${length}`;
        expect(await outcome({ resource, content: bytesOf(whole) }, range), what).toEqual(expected);
        expect(await outcome(sourceOf(inChunks(whole, 3), { resource }).body, range), what).toEqual(expected);
      }
    }
  });

  it('that begins past the end is refused as invalid', async () => {
    const range = { offset: whole.byteLength + 1, length: 1 };
    await expect(encode({ resource: resourceOf(), content: bytesOf(whole) }, range)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/past the end .* 11 bytes/),
    });
    await expect(encode(sourceOf(inChunks(whole, 4)).body, range)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('ends the stream as soon as it is complete', async () => {
    const { body, state } = sourceOf(endless(utf8('0123456789')));
    const { item } = await encode(body, { offset: 12, length: 4 });
    expect(item).toMatchObject({ text: '2345' });
    expect(windowOf(item)).toEqual({ offset: 12, length: 4 });
    expect(state).toEqual({ opened: 1, chunks: 2, ended: true });
  });

  it('has the total as soon as it is known', async () => {
    const { item } = await encode(sourceOf(inChunks(whole, 3)).body, { offset: 1 });
    expect(windowOf(item)).toEqual({ offset: 1, length: 10, total: 11 });
  });
});

describe('an item of another server', () => {
  const item: ResourceContents = { uri: 'docs+memo:x', name: 'x', text: 'né', mimeType: 'image/png', size: 99 };
  const extra = Object.assign(item, { unknown: { kept: true }, annotations: { priority: 1 }, _meta: { k: 1 } });
  const body: ResourceBody = { resource: resourceOf(), content: bytesOf(utf8('né')), item: extra };

  it('is passed on unchanged if the whole is requested, and counts its bytes', async () => {
    const encoded = await encode(body);
    expect(encoded.item).toBe(item);
    expect(encoded.bytes).toBe(3);
  });

  it('is cut like any other if a window is requested', async () => {
    const encoded = await encode(body, { offset: 1, length: 2 });
    expect(encoded.item).toMatchObject({ uri: URI, text: 'é', _meta: { [WINDOW_META_KEY]: { offset: 1, length: 2 } } });
    expect(encoded.item).not.toHaveProperty('unknown');
  });

  it('has the limits of any other [SEC-RES-3]', async () => {
    await expect(encode(body, undefined, 2)).rejects.toMatchObject({ code: 'too-large' });
  });
});
