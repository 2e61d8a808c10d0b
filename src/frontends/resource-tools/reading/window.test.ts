import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { MUSEUM } from '../../../../test/e2e/harness.ts';
import {
  bytesOfPart,
  type Engine,
  engineOf,
  followWindows,
  memoryEngine,
  nextOffset,
  structured,
  textOf,
  type WindowAnswer,
} from '../../../../test/tools/engine.ts';
import { type ResourceBody, textBytes } from '../../../core/body.ts';
import { wrapProvider } from '../../../core/layer.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { memoryProvider } from '../../../providers/memory/index.ts';
import { streaming } from '../../../testing/memory-fixture.ts';

const PNG = await readFile(`${MUSEUM}/guide/icon.png`);
const NOISE = Buffer.from(Array.from({ length: 12_345 }, (_, index) => (index * 7_919) % 251));
const STORY = Buffer.from('a£–😀 naïve 日本語\n'.repeat(60));

const follow = (engine: Engine, uri: string, maxBytes?: number) =>
  followWindows((args) => engine.call('read', args), uri, maxBytes);

describe('windows one after the other [CB-3]', () => {
  it.each([
    ['text', 'story.txt', STORY, ['text']],
    ['text that nothing is known of by its name', 'story', STORY, ['text']],
    ['binary', 'noise.bin', NOISE, ['base64']],
    ['an image', 'icon.png', PNG, ['base64']],
    ['an image that says it is text', 'icon.txt', PNG, ['base64']],
    ['text that says it is an image', 'story.png', STORY, ['text']],
    ['Latin-1', 'latin.txt', Buffer.from('naïve café °C\n'.repeat(100), 'latin1'), ['base64']],
    ['text with some bytes that are none', 'mixed.txt', mixed(), ['base64', 'text']],
    ['UTF-16', 'utf16.txt', Buffer.from(`\ufeff${'wide ☃\n'.repeat(100)}`, 'utf16le'), ['base64', 'text']],
    ['NULs', 'nul.bin', Buffer.alloc(5_000), ['base64']],
  ])('give %s back byte for byte, in windows of any size', async (_, name, whole, kinds) => {
    await using engine = memoryEngine({ [name]: { bytes: whole } }, { resourceTools: { outputBytes: 1_000 } });
    for (const size of [undefined, 7, 251, 999, 1_000, whole.byteLength, whole.byteLength + 1]) {
      if (size === 7 && whole.byteLength > 2_500) continue;
      const { bytes, windows } = await follow(engine, `m+memory:///${name}`, size);
      expect(bytes.equals(whole)).toBe(true);
      const parts = windows.flatMap((window) => window.parts);
      expect(parts.every((part) => part.total_bytes === whole.byteLength)).toBe(true);
      expect([...new Set(parts.map((part) => part.kind))].filter((kind) => !kinds.includes(kind))).toEqual([]);
      expect(new Set(parts.map((part) => part.mime)).size).toBe(1);
      expect(JSON.stringify(windows)).not.toContain('\ufffd');
    }
  });

  it('end after the last byte if a provider cuts windows and does not give the total', async () => {
    const memory = memoryProvider({ resources: { 'a.txt': { text: '0123456789' } } });
    const untold = wrapProvider(memory, {
      async read(uri, want, ctx) {
        const { offset = 0, length } = want.range ?? {};
        const text = '0123456789'.slice(offset, length === undefined ? undefined : offset + length);
        const { size: _size, ...resource } = await memory.metadata(uri, ctx);
        return [{ resource, content: textBytes(text), window: { offset } }];
      },
    });
    await using engine = engineOf({ m: untold });
    const { bytes } = await follow(engine, 'm+memory:///a.txt', 4);
    expect(bytes.toString('utf8')).toBe('0123456789');
    for (const start_offset of [11, 12, 13, 14, 1_000]) {
      const refusal = await engine.refusal('read', { uri: 'm+memory:///a.txt', start_offset });
      expect(refusal).toContain('The window begins past the end of the resource');
    }
  });

  it('are the same for streams, even of unknown length', async () => {
    const unsized = (inner: ResourceProvider): ResourceProvider =>
      wrapProvider(inner, {
        async read(uri, want, ctx) {
          const bodies = await inner.read(uri, { ...want, range: undefined }, ctx);
          return bodies.map(({ resource: { size: _size, ...resource }, ...body }) => ({ ...body, resource }));
        },
      });
    const memory = memoryProvider({ resources: { 'noise.bin': { bytes: NOISE } } });
    await using engine = engineOf({ m: unsized(streaming(memory)) });
    for (const size of [1_000, NOISE.byteLength, NOISE.byteLength - 1]) {
      const { bytes, windows } = await follow(engine, 'm+memory:///noise.bin', size);
      expect(bytes.equals(NOISE)).toBe(true);
      expect(windows.at(-1)?.parts[0]?.total_bytes).toBe(NOISE.byteLength);
      if (size === 1_000) expect(windows[0]?.parts[0]).not.toHaveProperty('total_bytes');
    }
    const refusal = await engine.refusal('read', { uri: 'm+memory:///noise.bin', start_offset: 1_000_000 });
    expect(refusal).toContain('past the end');
  });
});

/** Mostly text, with bytes that are not, and characters of several bytes everywhere else. */
function mixed(): Buffer {
  const parts = Array.from({ length: 60 }, (_, index) => [
    Buffer.from('日é😀'.repeat((index % 7) + 1)),
    Buffer.from(index % 5 === 0 ? [0x80, 0xe0, 0xff] : []),
  ]);
  return Buffer.concat(parts.flat());
}

describe('a window [CB-3]', () => {
  it('has exactly the fields that CB-3 names', async () => {
    await using engine = memoryEngine({ 'server.py': { text: 'x'.repeat(1_000) } });
    const result = await engine.call('read', { uri: 'm+memory:///server.py', as: 'window' });
    expect(result.structuredContent).toEqual({
      window: { start_offset: 0, max_bytes: 25_000 },
      parts: [
        { kind: 'text', text: 'x'.repeat(1_000), mime: 'text/x-python', total_bytes: 1_000, bytes_returned: 1_000 },
      ],
      total_parts: 1,
    });
    expect(textOf(result)).toContain('This is the end.');
  });

  it('has the bytes of start_offset and max_bytes, whether or not the form is named', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: '0123456789' } });
    const uri = 'm+memory:///a.txt';
    for (const form of [{}, { as: 'window' }]) {
      const { window, parts } = structured<WindowAnswer>(
        await engine.call('read', { uri, start_offset: 3, max_bytes: 4, ...form }),
      );
      expect(window).toEqual({ start_offset: 3, max_bytes: 4 });
      expect(parts[0]).toMatchObject({ text: '3456', bytes_returned: 4, total_bytes: 10 });
    }
  });

  it('begins after a character that the offset is inside of, and says so', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'a😀b' } });
    for (const start_offset of [2, 3, 4]) {
      const result = await engine.call('read', { uri: 'm+memory:///a.txt', start_offset, max_bytes: 4 });
      const { window, parts } = structured<WindowAnswer>(result);
      expect(window.start_offset).toBe(5);
      expect(parts[0]).toMatchObject({ text: 'b', bytes_returned: 1 });
    }
  });

  it('has room for any character, and never more than requested', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'é😀é' } });
    const { windows } = await follow(engine, 'm+memory:///a.txt', 4);
    expect(windows.map(({ parts }) => parts[0]?.text)).toEqual(['é', '😀', 'é']);
  });

  it('is empty at the end and for an empty content, and refused past the end', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'é' }, 'empty.txt': { text: '' } });
    for (const [name, start_offset, total_bytes] of [
      ['a.txt', 2, 2],
      ['empty.txt', 0, 0],
    ] as const) {
      const result = await engine.call('read', { uri: `m+memory:///${name}`, start_offset });
      expect(structured<WindowAnswer>(result).parts).toEqual([
        { kind: 'text', text: '', mime: 'text/plain', total_bytes, bytes_returned: 0 },
      ]);
      expect(nextOffset(result)).toBeUndefined();
    }
    for (const start_offset of [3, 4, 5, 6, 1_000, Number.MAX_SAFE_INTEGER]) {
      const refusal = await engine.refusal('read', { uri: 'm+memory:///a.txt', start_offset });
      expect(refusal).toBe('The window begins past the end of the resource, which has 2 bytes (m+memory:///a.txt)');
    }
    expect(await engine.refusal('read', { uri: 'm+memory:///empty.txt', start_offset: 1 })).toContain('has 0 bytes');
  });

  it('has the type of the content, even in its middle [SEC-RES-6]', async () => {
    await using engine = memoryEngine({ icon: { bytes: PNG }, 'icon.txt': { bytes: PNG } });
    for (const name of ['icon', 'icon.txt']) {
      for (const start_offset of [0, 1_000]) {
        const result = await engine.call('read', { uri: `m+memory:///${name}`, start_offset, max_bytes: 4 });
        expect(structured<WindowAnswer>(result).parts[0]).toMatchObject({ kind: 'base64', mime: 'image/png' });
      }
    }
  });

  it('requests only the window, and the bytes that reveal the type', async () => {
    const asked: (number | undefined)[] = [];
    const memory = memoryProvider({ resources: { 'large.txt': { text: 'x'.repeat(1_000_000) } } });
    const watched = wrapProvider(memory, {
      read(uri, want, ctx) {
        asked.push(want.range?.length);
        expect(want.maxBytes).toBe(want.range?.length);
        return memory.read(uri, want, ctx);
      },
    });
    await using engine = engineOf({ m: watched });
    await engine.call('read', { uri: 'm+memory:///large.txt' });
    await engine.call('read', { uri: 'm+memory:///large.txt', start_offset: 500_000, max_bytes: 10 });
    expect(asked).toEqual([25_003, 16, 4_103]);
  });

  it('gives a text half of the room of a message, because the message has it twice [SEC-RES-3]', async () => {
    const limits = { maxReadBytes: 10_000 };
    await using engine = memoryEngine({ 'a.txt': { text: 'x'.repeat(20_000) }, 'a.bin': { bytes: NOISE } }, { limits });
    const window = async (name: string) =>
      structured<WindowAnswer>(await engine.call('read', { uri: `m+memory:///${name}`, max_bytes: 10_000 }));
    expect(await window('a.txt')).toMatchObject({ window: { max_bytes: 5_000 }, parts: [{ bytes_returned: 5_000 }] });
    expect(await window('a.bin')).toMatchObject({ window: { max_bytes: 10_000 }, parts: [{ bytes_returned: 10_000 }] });
  });

  it('closes everything that it has opened, whatever the outcome [RES-7]', async () => {
    let open = 0;
    const memory = memoryProvider({ resources: { 'a.txt': { text: 'x'.repeat(100_000) } } });
    const counted = wrapProvider(streaming(memory), {
      async read(uri, want, ctx) {
        const bodies = await streaming(memory).read(uri, want, ctx);
        return bodies.map((body): ResourceBody => {
          open++;
          let closed = false;
          const close = async (): Promise<void> => {
            if (!closed) open--;
            closed = true;
          };
          return { ...body, close };
        });
      },
    });
    await using engine = engineOf({ m: counted });
    await engine.call('read', { uri: 'm+memory:///a.txt' });
    await engine.call('read', { uri: 'm+memory:///a.txt', start_offset: 90_000, max_bytes: 100 });
    await engine.refusal('read', { uri: 'm+memory:///a.txt', start_offset: 100_001 });
    expect(open).toBe(0);
  });
});

describe('a window over several parts [CB-3]', () => {
  const children = {
    'd/a.txt': { text: 'first é' },
    'd/b.bin': { bytes: NOISE.subarray(0, 50) },
    'd/c.txt': { text: '' },
    'd/d.txt': { text: '日本語' },
    'd/sub/below.txt': { text: 'not a part' },
  };
  const whole = Buffer.concat([Buffer.from('first é'), NOISE.subarray(0, 50), Buffer.from('日本語')]);

  it('covers the children of a directory as if they were one content', async () => {
    await using engine = memoryEngine(children);
    for (const size of [4, 7, 8, 9, 50, 1_000]) {
      const { bytes, windows } = await follow(engine, 'm+memory:///d', size);
      expect(bytes.equals(whole)).toBe(true);
      expect(windows.every((window) => window.total_parts === 4)).toBe(true);
    }
    const all = structured<WindowAnswer>(await engine.call('read', { uri: 'm+memory:///d', as: 'window' }));
    const said = all.parts.map(({ uri, kind, mime, total_bytes }) => ({ uri, kind, mime, total_bytes }));
    expect(said).toEqual([
      { uri: 'm+memory:///d/a.txt', kind: 'text', mime: 'text/plain', total_bytes: 8 },
      { uri: 'm+memory:///d/b.bin', kind: 'base64', mime: 'application/octet-stream', total_bytes: 50 },
      { uri: 'm+memory:///d/c.txt', kind: 'text', mime: 'text/plain', total_bytes: 0 },
      { uri: 'm+memory:///d/d.txt', kind: 'text', mime: 'text/plain', total_bytes: 9 },
    ]);
  });

  it('has only the parts that lie in it, and splits no character of them', async () => {
    await using engine = memoryEngine(children);
    const result = await engine.call('read', { uri: 'm+memory:///d', start_offset: 60, max_bytes: 5 });
    const { window, parts } = structured<WindowAnswer>(result);
    expect(window.start_offset).toBe(61);
    expect(parts).toMatchObject([{ uri: 'm+memory:///d/d.txt', text: '本' }]);
    expect(nextOffset(result)).toBe(64);
  });

  it('refuses to begin after the last part, and is empty at its end', async () => {
    await using engine = memoryEngine(children);
    const uri = 'm+memory:///d';
    expect(await engine.refusal('read', { uri, start_offset: whole.byteLength + 1 })).toContain('which has 67 bytes');
    const end = structured<WindowAnswer>(await engine.call('read', { uri, start_offset: whole.byteLength }));
    expect(end.parts).toEqual([]);
    const none = await engine.call('read', { uri: 'm+memory:///d/sub', as: 'window' });
    expect(structured<WindowAnswer>(none)).toMatchObject({ total_parts: 1, parts: [{ text: 'not a part' }] });
  });

  /** Gives two more formats of each content. The first of them is a stream of unknown length. */
  const inThreeFormats = (inner: ResourceProvider): ResourceProvider =>
    wrapProvider(inner, {
      async read(uri, want, ctx) {
        const [body] = await inner.read(uri, { ...want, range: undefined }, ctx);
        if (body === undefined) return [];
        async function* html(): AsyncIterable<Uint8Array> {
          yield Buffer.from('<p>');
          yield Buffer.from('html é');
        }
        const { size: _size, ...resource } = body.resource;
        return [
          body,
          { resource: { ...resource, mimeType: 'text/html' }, content: { kind: 'stream', open: html } },
          { ...body, resource: { ...resource, mimeType: 'text/markdown' } },
        ];
      },
    });

  it('covers all formats of a content, even of unknown length [2093-6]', async () => {
    await using engine = engineOf({
      m: inThreeFormats(memoryProvider({ resources: { 'a.txt': { text: 'plain é' } } })),
    });
    for (const size of [4, 5, 7, 100]) {
      const { bytes, windows } = await follow(engine, 'm+memory:///a.txt', size);
      expect(bytes.toString('utf8')).toBe('plain é<p>html éplain é');
      expect(windows[0]?.total_parts).toBe(3);
      expect(windows.flatMap(({ parts }) => parts).every((part) => bytesOfPart(part).byteLength > 0)).toBe(true);
    }
  });
});
