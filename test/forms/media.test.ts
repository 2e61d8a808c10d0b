/** Smaller images, and facts of images, sounds and films: as clients see them, and for harmful files. */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { type Alternatives, createAlternatives } from '../../src/layers/alternatives/index.ts';
import { ACCEPT_META_KEY, FORMATS_META_KEY } from '../../src/protocol/meta.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { bytesOf, drain, failure, type ReadAnswer, read } from '../e2e/answers.ts';
import { type Connected, connect, MUSEUM } from '../e2e/harness.ts';
import { box, endlessExif, mp3, png, textFrame } from './media-files.ts';
import { PROGRAM } from './program.ts';

const MIB = 1024 * 1024;
const WEBP = 'image/webp';
const JSON_TYPE = 'application/json';
const MARKDOWN = 'text/markdown';

/** A row of a PNG has a byte before its pixels. */
const rows = (width: number, height: number): Uint8Array => new Uint8Array((width * 3 + 1) * height);

const svg = (inside: string, before = ''): Uint8Array =>
  Buffer.from(`${before}<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${inside}</svg>`);

const ENTITIES = `<!DOCTYPE svg [<!ENTITY a0 "ha">${Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};&a${n};&a${n};">`).join('')}]>`;

interface Bomb {
  readonly what: string;
  readonly type: string;
  readonly form: string;
  readonly bytes: () => Uint8Array;
  readonly ends: 'too-large' | 'unavailable';
}

const BOMBS: readonly Bomb[] = [
  {
    what: 'an image of few bytes and very many pixels',
    type: 'image/png',
    form: WEBP,
    bytes: () => png(60_000, 60_000, rows(1_000, 100)),
    ends: 'too-large',
  },
  {
    what: 'an interlaced image, which needs all its pixels in memory at once',
    type: 'image/png',
    form: WEBP,
    bytes: () => png(7_000, 7_000, rows(7_000, 7_050), { interlaced: true }),
    ends: 'too-large',
  },
  {
    what: 'an image whose header says that it is larger than it is',
    type: 'image/png',
    form: WEBP,
    bytes: () => png(9_000, 9_000, rows(100, 100)),
    ends: 'unavailable',
  },
  { what: 'a drawing of a huge size', type: 'image/svg+xml', form: WEBP, bytes: vast, ends: 'too-large' },
  {
    what: 'a drawing with entities within entities',
    type: 'image/svg+xml',
    form: WEBP,
    bytes: () => svg('<text>&a30;</text>', ENTITIES),
    ends: 'unavailable',
  },
  {
    what: 'EXIF data without an end',
    type: 'image/png',
    form: JSON_TYPE,
    bytes: () => png(1, 1, rows(1, 1), { exif: endlessExif(60_000, MIB) }),
    ends: 'too-large',
  },
  {
    what: 'tags without an end',
    type: 'audio/mpeg',
    form: JSON_TYPE,
    bytes: () => mp3(Array.from({ length: 8_000 }, (_, n) => textFrame('TCOM', `Composer ${n}, ${'x'.repeat(32)}`))),
    ends: 'too-large',
  },
  {
    what: 'a film with a box that claims to be larger than the file',
    type: 'video/mp4',
    form: JSON_TYPE,
    bytes: () => Buffer.concat([box('ftyp', Buffer.from('isom')), Buffer.from('fffffff06d6f6f760000', 'hex')]),
    ends: 'unavailable',
  },
];

function vast(): Uint8Array {
  return Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="60000" height="60000"><rect width="9"/></svg>');
}

describe('a harmful image or sound ends as an error of the format, and the server goes on [SEC-RES-3, RES-7]', () => {
  let alternatives: Alternatives;
  const serve = (type: string, bytes: Uint8Array): ResourceProvider =>
    alternatives.layer(memoryProvider({ resources: { bomb: { bytes, mimeType: type } } }));

  beforeAll(() => {
    alternatives = createAlternatives(
      { maxOutputBytes: MIB / 4, maxMemoryBytes: 160 * MIB, timeoutMs: 15_000 },
      { program: PROGRAM },
    );
  });
  afterAll(() => alternatives.close());

  const readAs = async (provider: ResourceProvider, accept?: readonly string[]) =>
    provider.read('memory:///bomb', { maxBytes: 100 * MIB, maxChildren: 0, accept }, createContext());

  it.each(BOMBS)('$what', async ({ type, form, bytes, ends }) => {
    const provider = serve(type, bytes());
    const outcome = await readAs(provider, [form]).then(
      ([body]) => `${body?.resource.mimeType} of ${body?.resource.size} bytes`,
      (error: { readonly code?: string }) => error.code,
    );
    // On a busy machine, a process may exceed its time before it exceeds its memory.
    if (ends === 'too-large') expect(['too-large', 'timeout']).toContain(outcome);
    else expect(outcome).toBe(ends);
    // Without a requested format, the original is given.
    expect((await readAs(provider))[0]?.resource.mimeType).toBe(type);
    const [small] = await readAs(serve('image/png', png(2, 2, rows(2, 2))), [WEBP]);
    expect(small?.resource.mimeType).toBe(WEBP);
  });
});

const MUSEUM_FILES = ['carriage-clock.png', 'escapement.svg', 'hands.gif', 'tick.wav'];

interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly mimeType?: string }[];
}

describe('images and sounds, as clients see them', () => {
  let folder: string;
  let server: Connected;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-media-'));
    await writeFile(join(folder, 'bomb.png'), png(60_000, 60_000, rows(1_000, 100)));
    await writeFile(join(folder, 'large.png'), png(1_600, 800, rows(1_600, 800)));
    for (const name of MUSEUM_FILES) await copyFile(join(MUSEUM, 'collection/clocks', name), join(folder, name));
    server = await connect('http', 'modern', [folder]);
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const readAs = async (name: string, accept: readonly string[]) => {
    const params = { uri: `file:///${name}`, _meta: { [ACCEPT_META_KEY]: accept } };
    return (await server.request<ReadAnswer>('resources/read', params)).contents;
  };

  it('name their formats without a read [2093-8]', async () => {
    const listed = await drain(server, 'resources/list');
    const formatsOf = (wanted: string) => listed.find(({ name }) => name === wanted)?._meta?.[FORMATS_META_KEY];
    const formats = (...types: readonly string[]) => types.map((mimeType) => expect.objectContaining({ mimeType }));
    expect(formatsOf('carriage-clock.png')).toEqual(formats('image/png', WEBP, MARKDOWN, JSON_TYPE));
    expect(formatsOf('escapement.svg')).toEqual(formats('image/svg+xml', WEBP, MARKDOWN, JSON_TYPE));
    expect(formatsOf('tick.wav')).toEqual(formats('audio/wav', MARKDOWN, JSON_TYPE));
  });

  it.each(MUSEUM_FILES)('are unchanged without a requested format: %s [2093-6]', async (name) => {
    const [original, ...others] = await read(server, `file:///${name}`);
    expect(original?.mimeType).toMatch(/^(?:image|audio)\//);
    expect(original?.mimeType).not.toBe(WEBP);
    expect(others).toEqual([]);
    expect((await readAs(name, ['image/*', 'audio/*']))[0]?.mimeType).toBe(original?.mimeType);
    const { content } = await server.request<ToolAnswer>('tools/call', {
      name: 'read',
      arguments: { uri: `file:///${name}` },
    });
    expect(content.some(({ text }) => text?.startsWith('# '))).toBe(false);
  });

  it('are read in the accepted format [2093-6]', async () => {
    const [small] = await readAs('large.png', [WEBP]);
    if (small === undefined) throw new Error('There is no smaller one');
    expect(small).toMatchObject({ mimeType: WEBP, size: bytesOf(small).byteLength });
    expect(await sharp(bytesOf(small)).metadata()).toMatchObject({ format: 'webp', width: 1_024, height: 512 });
    const [facts] = await readAs('tick.wav', [JSON_TYPE]);
    expect(JSON.parse(facts?.text ?? '')).toMatchObject({ container: 'WAVE', durationSeconds: 1 });
    const [table] = await readAs('hands.gif', ['text/*']);
    expect(table).toMatchObject({ mimeType: MARKDOWN, text: expect.stringContaining('| Frames | 12 |') });
  });

  it('are read in a format by clients that only call tools [CB-3]', async () => {
    const call = async (format: string) =>
      (
        await server.request<ToolAnswer>('tools/call', {
          name: 'read',
          arguments: { uri: 'file:///large.png', format },
        })
      ).content;
    expect(await call(WEBP)).toMatchObject([{ type: 'text' }, { type: 'image', mimeType: WEBP }]);
    expect(JSON.stringify(await call(MARKDOWN))).toContain('| Width | 1600 |');
  });

  it('that are bombs are errors, and the server goes on [SEC-RES-3]', async () => {
    const error = await failure(readAs('bomb.png', [WEBP]));
    expect(error.message).toMatch(/image\/webp cannot be made: the image has more than 100000000 pixels/);
    expect((await readAs('bomb.png', [WEBP, '*/*']))[0]?.mimeType).toBe('image/png');
    const [facts] = await readAs('bomb.png', [JSON_TYPE]);
    expect(JSON.parse(facts?.text ?? '')).toMatchObject({ width: 60_000, height: 60_000 });
  });
});
