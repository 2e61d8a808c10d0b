import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { MUSEUM } from '../../../test/e2e/harness.ts';
import {
  embeddedIn,
  engineOf,
  memoryEngine,
  nextOffset,
  structured,
  textOf,
  typesOf,
  type WindowAnswer,
} from '../../../test/tools/engine.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { streaming } from '../../testing/memory-fixture.ts';

const BUDGET = 1_000;
const budget = { resourceTools: { outputBytes: BUDGET } };
const PNG = await readFile(`${MUSEUM}/guide/icon.png`);
const WAV = await readFile(`${MUSEUM}/collection/clocks/tick.wav`);
const binary = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 7 + 128) % 256);

describe('read without an explicit form', () => {
  it.each([
    ['text that fits exactly', 'a.txt', 'x'.repeat(BUDGET)],
    ['text of many-byte characters that fits exactly', 'a.txt', 'é'.repeat(BUDGET / 2)],
    ['an empty text', 'a.txt', ''],
    ['text without a name for its type', 'a', 'just text'],
  ])('embeds %s, whole, after a line with its facts [CB-4, CB-6]', async (_, name, text) => {
    await using engine = memoryEngine({ [name]: { text } }, budget);
    const result = await engine.call('read', { uri: `m+memory:///${name}` });
    expect(typesOf(result)).toEqual(['text', 'resource']);
    expect(embeddedIn(result)[0]).toMatchObject({ uri: `m+memory:///${name}`, mimeType: 'text/plain', text });
    const size = Buffer.byteLength(text);
    expect(textOf(result)).toContain(
      `m+memory:///${name}\ntext/plain, ${size} bytes, about ${Math.ceil(size / 4)} tokens`,
    );
    expect(result.structuredContent).toBeUndefined();
  });

  it.each([
    ['one byte over', 'x'.repeat(BUDGET + 1), BUDGET],
    ['over, with a character across the limit', `x${'é'.repeat(BUDGET / 2)}`, BUDGET - 1],
    ['far over', '😀'.repeat(BUDGET), BUDGET],
  ])('gives the first window of a text that is %s [CB-3]', async (_, text, expected) => {
    await using engine = memoryEngine({ 'a.txt': { text } }, budget);
    const result = await engine.call('read', { uri: 'm+memory:///a.txt' });
    const { window, parts, total_parts } = structured<WindowAnswer>(result);
    expect({ window, total_parts }).toEqual({ window: { start_offset: 0, max_bytes: BUDGET }, total_parts: 1 });
    expect(parts).toEqual([
      {
        kind: 'text',
        text: Buffer.from(text).subarray(0, expected).toString('utf8'),
        mime: 'text/plain',
        total_bytes: Buffer.byteLength(text),
        bytes_returned: expected,
      },
    ]);
    expect(typesOf(result)).toEqual(['text', 'text']);
    expect(nextOffset(result)).toBe(expected);
  });

  it('counts binaries in base64: embeds them up to the limit exactly [CB-6]', async () => {
    const most = (BUDGET / 4) * 3;
    await using engine = memoryEngine(
      { 'fits.bin': { bytes: binary(most) }, 'over.bin': { bytes: binary(most + 1) } },
      budget,
    );
    const fits = await engine.call('read', { uri: 'm+memory:///fits.bin' });
    expect(embeddedIn(fits)).toEqual([expect.objectContaining({ blob: Buffer.from(binary(most)).toString('base64') })]);
    expect(textOf(fits)).toContain('application/octet-stream, 750 bytes, about 334 tokens');
    const over = await engine.call('read', { uri: 'm+memory:///over.bin' });
    const { window, parts } = structured<WindowAnswer>(over);
    expect(window).toEqual({ start_offset: 0, max_bytes: most });
    expect(parts).toEqual([
      {
        kind: 'base64',
        base64: Buffer.from(binary(most + 1).subarray(0, most)).toString('base64'),
        mime: 'application/octet-stream',
        total_bytes: most + 1,
        bytes_returned: most,
      },
    ]);
    // The answer has the bytes once: its text only says where they lie.
    expect(typesOf(over)).toEqual(['text']);
    expect(textOf(over)).toContain('structured content');
  });

  it('returns images and sounds whole, whatever the budget [CB-5, CB-7]', async () => {
    await using engine = memoryEngine({ 'a.png': { bytes: PNG }, 'a.wav': { bytes: WAV } }, budget);
    const image = await engine.call('read', { uri: 'm+memory:///a.png' });
    expect(typesOf(image)).toEqual(['text', 'image']);
    expect(image.content[1]).toMatchObject({ data: PNG.toString('base64'), mimeType: 'image/png' });
    expect(textOf(image)).toBe(`m+memory:///a.png\nimage/png, ${PNG.byteLength} bytes\n`);
    const sound = await engine.call('read', { uri: 'm+memory:///a.wav' });
    expect(typesOf(sound)).toEqual(['text', 'audio']);
    expect(sound.content[1]).toMatchObject({ data: WAV.toString('base64') });
    for (const { structuredContent } of [image, sound]) expect(structuredContent).toBeUndefined();
  });

  it('says how to go on if an image is over the limit of a read', async () => {
    const options = { ...budget, limits: { maxReadBytes: 2_000 } };
    await using engine = memoryEngine({ 'a.png': { bytes: PNG } }, options);
    const refusal = await engine.refusal('read', { uri: 'm+memory:///a.png' });
    expect(refusal).toContain(`It has ${PNG.byteLength} bytes, and one read takes at most 2000`);
    expect(refusal).toContain('read {"uri":"m+memory:///a.png","as":"window","start_offset":0}');
  });

  it('follows the bytes, not the name [CB-5]', async () => {
    await using engine = memoryEngine(
      { 'text.png': { text: 'no image' }, 'image.txt': { bytes: PNG }, 'noise.png': { bytes: binary(300) } },
      { ...budget, limits: {} },
    );
    expect(embeddedIn(await engine.call('read', { uri: 'm+memory:///text.png' }))).toMatchObject([
      { mimeType: 'text/plain', text: 'no image' },
    ]);
    expect(typesOf(await engine.call('read', { uri: 'm+memory:///image.txt' }))).toEqual(['text', 'image']);
    expect(typesOf(await engine.call('read', { uri: 'm+memory:///noise.png' }))).toEqual(['text', 'resource']);
  });

  it('treats SVG as text, because a host may not show it as an image', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    await using engine = memoryEngine({ 'a.svg': { text: svg } });
    expect(embeddedIn(await engine.call('read', { uri: 'm+memory:///a.svg' }))).toMatchObject([{ text: svg }]);
    expect(textOf(await engine.call('read', { uri: 'm+memory:///a.svg', as: 'plain' }))).toBe(svg);
  });

  it('shows no empty image [CB-5]', async () => {
    await using engine = memoryEngine({ 'a.png': { bytes: new Uint8Array() } });
    expect(typesOf(await engine.call('read', { uri: 'm+memory:///a.png' }))).toEqual(['text', 'resource']);
    expect(typesOf(await engine.call('read', { uri: 'm+memory:///a.png', as: 'plain' }))).toEqual(['text']);
  });
});

describe('read as embedded', () => {
  it('embeds everything, over the budget, too, with all known fields [CB-4, 2093-1, 2093-9]', async () => {
    const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00.000Z' } as const;
    const said = { title: 'A title', description: 'What it is', annotations, _meta: { 'example/key': 1 } };
    await using engine = memoryEngine({ 'a.md': { text: 'é'.repeat(5_000), ...said } }, budget);
    for (const [tool, args] of [
      ['read', { as: 'embedded' }],
      ['read_embedded', {}],
    ] as const) {
      const result = await engine.call(tool, { uri: 'm+memory:///a.md', ...args });
      expect(result.content[1]).toEqual({
        type: 'resource',
        resource: {
          uri: 'm+memory:///a.md',
          name: 'a.md',
          mimeType: 'text/markdown',
          size: 10_000,
          capabilities: { list: false, subscribe: true },
          ...said,
          text: 'é'.repeat(5_000),
        },
      });
      expect(result.structuredContent).toBeUndefined();
    }
  });

  it('embeds images as they are, without a conversion [CB-4]', async () => {
    await using engine = memoryEngine({ 'a.png': { bytes: PNG } });
    const result = await engine.call('read', { uri: 'm+memory:///a.png', as: 'embedded' });
    expect(embeddedIn(result)).toMatchObject([{ mimeType: 'image/png', blob: PNG.toString('base64') }]);
  });

  it('embeds a window, with its place and the next call [CB-3, CB-4]', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'aé'.repeat(100) } });
    const result = await engine.call('read', {
      uri: 'm+memory:///a.txt',
      as: 'embedded',
      start_offset: 2,
      max_bytes: 6,
    });
    expect(embeddedIn(result)).toMatchObject([
      { text: 'aéaé', size: 300, _meta: { 'vitrine/window': { offset: 3, length: 6, total: 300 } } },
    ]);
    expect(textOf(result)).toContain(
      'Next window: read {"uri":"m+memory:///a.txt","as":"embedded","start_offset":9,"max_bytes":6}',
    );
  });

  it('refuses a content over the limit of a read, and says how to go on [SEC-TOOL-3]', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'x'.repeat(2_001) } }, { limits: { maxReadBytes: 2_000 } });
    expect(await engine.refusal('read', { uri: 'm+memory:///a.txt', as: 'embedded' })).toContain('"as":"window"');
    expect(await engine.refusal('read_embedded', { uri: 'm+memory:///a.txt' })).toContain('"as":"window"');
  });
});

describe('read as plain', () => {
  it('returns text as text, images as images, sounds as sounds, and nothing else [CB-5]', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: 'héllo' }, 'a.png': { bytes: PNG }, 'a.wav': { bytes: WAV } });
    const plain = (name: string) => engine.call('read', { uri: `m+memory:///${name}`, as: 'plain' });
    expect(await plain('a.txt')).toEqual({ content: [{ type: 'text', text: 'héllo' }] });
    const annotations = { lastModified: expect.any(String) };
    expect(await plain('a.png')).toEqual({
      content: [{ type: 'image', data: PNG.toString('base64'), mimeType: 'image/png', annotations }],
    });
    expect(await plain('a.wav')).toMatchObject({ content: [{ type: 'audio', data: WAV.toString('base64') }] });
  });

  it.each([
    ['a.zip', Buffer.from('504b0304140000000000', 'hex'), 'application/zip'],
    ['a.bin', Buffer.from(binary(100)), 'application/octet-stream'],
    ['a.png', Buffer.from(binary(100)), 'application/octet-stream'],
    ['a.mp4', Buffer.from('0000001866747970697336340000000069736f3634', 'hex'), 'video/mp4'],
  ])('describes other binaries, as %s, and never returns them as an image [CB-5]', async (name, bytes, type) => {
    await using engine = memoryEngine({ [name]: { bytes } });
    const result = await engine.call('read', { uri: `m+memory:///${name}`, as: 'plain' });
    expect(typesOf(result)).toEqual(['text']);
    expect(textOf(result)).toContain(`${type}, ${bytes.byteLength} bytes: binary content, which has no plain form`);
  });

  it('returns a window of a text and the call for the next one, and no part of an image [CB-3, CB-5]', async () => {
    await using engine = memoryEngine({ 'a.txt': { text: '0123456789' }, 'a.png': { bytes: PNG } });
    const args = { uri: 'm+memory:///a.txt', as: 'plain', max_bytes: 4 };
    const first = await engine.call('read', args);
    expect(first.content[0]).toEqual({ type: 'text', text: '0123' });
    expect(nextOffset(first)).toBe(4);
    const last = await engine.call('read', { ...args, start_offset: 8 });
    expect(last.content).toEqual([
      { type: 'text', text: '89' },
      { type: 'text', text: 'This is the end.' },
    ]);
    const image = await engine.call('read', { uri: 'm+memory:///a.png', as: 'plain', max_bytes: 100 });
    expect(typesOf(image)).toEqual(['text', 'text']);
    const whole = await engine.call('read', { uri: 'm+memory:///a.png', as: 'plain', max_bytes: 100_000 });
    expect(typesOf(whole)).toEqual(['image', 'text']);
  });
});

describe('read of an image whose server sends an invalid window', () => {
  it.each([[null], ['x'], [{}], [{ offset: '1', length: 2 }]])('shows the image: %j', async (window) => {
    const memory = memoryProvider({ resources: { 'a.png': { bytes: PNG } } });
    const odd = wrapProvider(memory, {
      read: async (uri, want, ctx) =>
        (await memory.read(uri, want, ctx)).map((body) => ({
          ...body,
          resource: { ...body.resource, _meta: { 'vitrine/window': window } },
        })),
    });
    await using engine = engineOf({ m: odd });
    expect(typesOf(await engine.call('read', { uri: 'm+memory:///a.png' }))).toEqual(['text', 'image']);
  });
});

describe('read of a directory', () => {
  it('shows the children that fit, each as a read of it, and names the rest [CB-7, 2093-5]', async () => {
    await using engine = memoryEngine(
      {
        'd/a.txt': { text: 'first' },
        'd/b.png': { bytes: PNG },
        'd/c.txt': { text: 'x'.repeat(9_000) },
        'd/empty.txt': { text: '' },
        'd/sub/e.txt': { text: 'below' },
      },
      { resourceTools: { outputBytes: 10_000 } },
    );
    const result = await engine.call('read', { uri: 'm+memory:///d' });
    expect(typesOf(result)).toEqual(['text', 'text', 'resource', 'text', 'image', 'text', 'resource', 'text']);
    expect(embeddedIn(result).map((item) => item.uri)).toEqual(['m+memory:///d/a.txt', 'm+memory:///d/empty.txt']);
    const said = textOf(result);
    expect(said).toContain('m+memory:///d: directory, 5 entries, 3 shown here');
    expect(said).toMatch(
      /Not shown:\nm\+memory:\/\/\/d\/sub {2}directory\nm\+memory:\/\/\/d\/c\.txt {2}text\/plain {2}9000 bytes\n/,
    );
    expect(said).toContain('list {"uri":"m+memory:///d"}');
  });

  it('shows everything of a small directory, in the requested form', async () => {
    await using engine = memoryEngine({
      'd/a.txt': { text: 'first' },
      'd/b.png': { bytes: PNG },
      'd/c.bin': { bytes: binary(5) },
    });
    const uri = 'm+memory:///d';
    expect(typesOf(await engine.call('read', { uri, as: 'embedded' }))).toEqual([
      ...['text', 'text', 'resource', 'text', 'resource', 'text', 'resource'],
    ]);
    const plain = await engine.call('read', { uri: `${uri}/`, as: 'plain' });
    expect(typesOf(plain)).toEqual(['text', 'text', 'text', 'text', 'image', 'text']);
    expect(textOf(plain)).not.toContain('Not shown');
  });

  it('counts binary children as base64', async () => {
    await using engine = memoryEngine(
      { 'd/a.bin': { bytes: binary(2_200) }, 'd/b.bin': { bytes: binary(400) } },
      {
        resourceTools: { outputBytes: 3_900 },
      },
    );
    const result = await engine.call('read', { uri: 'm+memory:///d' });
    expect(embeddedIn(result).map((item) => item.uri)).toEqual(['m+memory:///d/b.bin']);
    expect(Buffer.byteLength(JSON.stringify(result.content))).toBeLessThan(3_900);
  });

  it('stays within the output budget, however many and long the names are [SEC-TOOL-3]', async () => {
    const names = Array.from({ length: 250 }, (_, index) => `d/${'long name '.repeat(8)}${index}.txt`);
    await using engine = memoryEngine(Object.fromEntries(names.map((name) => [name, { text: name }])), budget);
    const result = await engine.call('read', { uri: 'm+memory:///d' });
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(BUDGET);
    expect(textOf(result)).toContain('100 or more entries');
    expect(textOf(result)).toContain('list {"uri":"m+memory:///d"}');
  });

  it('refuses a byte range of a directory except as windows', async () => {
    await using engine = memoryEngine({ 'd/a.txt': { text: 'a' }, 'd/b.txt': { text: 'b' } });
    const refusal = await engine.refusal('read', { uri: 'm+memory:///d', as: 'embedded', start_offset: 1 });
    expect(refusal).toContain('as: "window"');
  });
});

describe('read of other providers', () => {
  const files = { 'a.txt': { text: 'é'.repeat(3_000) }, 'small.txt': { text: 'small' }, 'a.png': { bytes: PNG } };
  /** Ignores ranges, as a provider may. */
  const whole = (inner: ResourceProvider): ResourceProvider =>
    wrapProvider(inner, { read: (uri, want, ctx) => inner.read(uri, { ...want, range: undefined }, ctx) });

  it.each([
    ['streams', streaming],
    ['no ranges', whole],
    ['streams and no ranges', (inner: ResourceProvider) => streaming(whole(inner))],
  ])('gives the same over a provider with %s', async (_, wrap) => {
    await using plain = engineOf({ m: memoryProvider({ resources: files }) }, budget);
    await using other = engineOf({ m: wrap(memoryProvider({ resources: files })) }, budget);
    for (const name of Object.keys(files)) {
      for (const form of [
        {},
        { as: 'plain' },
        { as: 'embedded' },
        { as: 'window' },
        { start_offset: 5, max_bytes: 9 },
      ]) {
        const args = { uri: `m+memory:///${name}`, ...form };
        expect(timeless(await other.call('read', args))).toEqual(timeless(await plain.call('read', args)));
      }
    }
  });

  /** Gives each content in two formats, with the same text. */
  const inTwoFormats = (inner: ResourceProvider): ResourceProvider =>
    wrapProvider(inner, {
      async read(uri, want, ctx) {
        const bodies = await inner.read(uri, want, ctx);
        return bodies.flatMap((body) => [body, { ...body, resource: { ...body.resource, mimeType: 'text/html' } }]);
      },
    });

  it('shows all formats of a small content, and a window over those of a large one [2093-6, CB-7]', async () => {
    await using engine = engineOf({ m: inTwoFormats(memoryProvider({ resources: files })) }, budget);
    const small = await engine.call('read', { uri: 'm+memory:///small.txt' });
    expect(embeddedIn(small)).toMatchObject([
      { mimeType: 'text/plain', text: 'small' },
      { mimeType: 'text/html', text: 'small' },
    ]);
    const large = structured<WindowAnswer>(await engine.call('read', { uri: 'm+memory:///a.txt' }));
    expect(large).toMatchObject({ total_parts: 2, parts: [{ total_bytes: 6_000, mime: 'text/plain' }] });
  });
});

/** Without times, which differ between two engines. */
const timeless = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then'));
