/** `resources/read` of files, whole. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTreeUri } from '../../src/core/uri.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import {
  bytesOf,
  described,
  drain,
  failure,
  HINTS,
  hintsIn,
  metadata,
  missing,
  type ReadAnswer,
  read,
  readOne,
} from './answers.ts';
import { type Connected, connect, MATRIX, MUSEUM } from './harness.ts';

/** Files whose bytes contradict their names. */
const MISLABELLED: ReadonlySet<string> = new Set(['file:///archive/mislabelled.txt', 'file:///archive/not-really.png']);

/** A text that is not UTF-8, which only a read shows. */
const OF_ANOTHER_TIME = 'file:///archive/letter-1953.latin1.txt';

describe.each(MATRIX)('reading over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  let files: readonly Resource[];
  beforeAll(async () => {
    museum = await connect(transport, era, [MUSEUM, '--icons', 'on']);
    files = (await drain(museum, 'resources/list')).filter(({ capabilities }) => !capabilities?.list);
  });
  afterAll(() => museum.close());

  it('gives every file back byte for byte, as one item with text or blob [2093-6, RES-2]', async () => {
    expect(files.length).toBeGreaterThan(35);
    for (const { uri } of files) {
      const item = await readOne(museum, uri);
      expect(item.uri).toBe(uri);
      expect([typeof item.text, typeof item.blob].sort()).toEqual(['string', 'undefined']);
      expect(bytesOf(item).equals(await onDisk(uri)), uri).toBe(true);
    }
  });

  it('gives contents the fields of metadata and lists [2093-1, 2093-2, 2093-3]', async () => {
    for (const listed of files) {
      if (MISLABELLED.has(listed.uri) || listed.uri === OF_ANOTHER_TIME) continue;
      const item = await readOne(museum, listed.uri);
      expect(described(item)).toEqual(listed);
      expect(await metadata(museum, listed.uri)).toEqual(listed);
      expect(item).toMatchObject({ name: expect.any(String), size: bytesOf(item).byteLength });
    }
  });

  it('gives text as text, whatever its type [RES-2]', async () => {
    for (const name of [
      'README.md',
      'collection/catalogue.json',
      'collection/clocks/escapement.svg',
      'visitors/events.ics',
    ])
      expect(await readOne(museum, `file:///${name}`)).toHaveProperty('text');
  });

  it('gives other content in base64 [RES-2]', async () => {
    for (const name of ['guide/icon.png', 'guide/leaflet.pdf', 'collection/clocks/tick.wav', 'archive/letters.zip'])
      expect(await readOne(museum, `file:///${name}`)).toHaveProperty('blob');
  });

  it('keeps a byte-order mark [RES-2]', async () => {
    const item = await readOne(museum, 'file:///archive/bom.csv');
    expect(item.text?.codePointAt(0)).toBe(0xfeff);
    expect(item.mimeType).toBe('text/csv');
  });

  it('keeps the line ends [RES-2]', async () => {
    expect((await readOne(museum, 'file:///archive/telegram.txt')).text).toContain('\r\n');
  });

  it('gives text in another encoding as its original bytes first [RES-2]', async () => {
    const item = await readOne(museum, OF_ANOTHER_TIME);
    expect(item.mimeType).toBe('text/plain');
    expect(Buffer.from(item.blob ?? '', 'base64').toString('latin1')).toMatch(/[à-ÿ]/);
  });

  it('reads an empty file as one item with empty text [2093-6, RES-2]', async () => {
    const item = await readOne(museum, 'file:///archive/unlabelled.txt');
    expect(item).toMatchObject({ text: '', size: 0, mimeType: 'text/plain' });
  });

  it.each([
    ['spaces', 'file:///visitors/guest%20book.txt'],
    ['a percent sign', 'file:///collection/100%25%20brass.md'],
    ['accents and symbols', 'file:///collection/na%C3%AFve%20caf%C3%A9%20clock%20%E2%80%93%20%E2%84%967.md'],
    ['another script', 'file:///visitors/%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E3%81%94%E6%A1%88%E5%86%85.txt'],
    ['a hash sign and brackets', 'file:///archive/%2342%20%5Bdraft%5D%20(copy).txt'],
    ['signs that queries know', 'file:///archive/a+b=c%20&%20d;%20e@f.txt'],
  ])('lists and reads a name with %s [2093-6, RES-1]', async (_, uri) => {
    expect(files.map((file) => file.uri)).toContain(uri);
    expect(bytesOf(await readOne(museum, uri)).equals(await onDisk(uri))).toBe(true);
  });

  it.each([
    'file:///visitors/guest book.txt',
    'FILE:///visitors/guest%20book.txt',
    'file://localhost/visitors/guest%20book.txt',
    'file:///visitors/gu%65st%20book.txt',
    'file:/visitors/guest%20book.txt',
  ])('answers %s under the requested spelling [2093-6]', async (uri) => {
    const canonical = await readOne(museum, 'file:///visitors/guest%20book.txt');
    expect(await readOne(museum, uri)).toEqual({ ...canonical, uri });
  });

  it('corrects a type that the bytes contradict, and keeps the declared one [2093-8]', async () => {
    const picture = await readOne(museum, 'file:///archive/mislabelled.txt');
    expect(picture).toMatchObject({ mimeType: 'image/png', _meta: { 'vitrine/declaredMimeType': 'text/plain' } });
    expect(picture).toHaveProperty('blob');
    const words = await readOne(museum, 'file:///archive/not-really.png');
    expect(words).toMatchObject({ mimeType: 'text/plain', _meta: { 'vitrine/declaredMimeType': 'image/png' } });
    expect(words).toHaveProperty('text');
  });

  it('answers a missing resource with an error, never with an empty result [RES-2, RES-6]', async () => {
    for (const uri of ['file:///nothing.txt', 'file:///README.md/', 'file:///README.md/x', 'other:///README.md']) {
      const refused = await failure(read(museum, uri));
      expect(refused).toMatchObject(missing(era, uri));
    }
  });

  it('gives cache hints: how long, and for whom [RES-6]', async () => {
    const answer = await museum.request<ReadAnswer>('resources/read', { uri: 'file:///README.md' });
    expect(hintsIn({ ...answer })).toEqual(HINTS[era]);
  });

  it('satisfies the typed method of the SDK [2093-11]', async () => {
    const { contents } = await museum.client.readResource({ uri: 'file:///README.md' });
    expect(contents).toMatchObject([{ uri: 'file:///README.md', mimeType: 'text/markdown' }]);
  });
});

const onDisk = (uri: string): Promise<Buffer> => readFile(join(MUSEUM, ...parseTreeUri(uri, 'file').segments));
