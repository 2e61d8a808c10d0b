/** Images become smaller images, and images, sounds and films become facts as text. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { CONVERTERS } from '../../src/layers/alternatives/converters/index.ts';
import { MUSEUM } from '../../test/e2e/harness.ts';
import { chapterFrame, coverFrame, mp3, mp4, png, textFrame, webm } from '../../test/forms/media-files.ts';

const WEBP = 'image/webp';
const JSON_TYPE = 'application/json';
const MARKDOWN = 'text/markdown';

async function convert(bytes: Uint8Array, from: string, to: string): Promise<Buffer> {
  const converter = CONVERTERS.find((each) => each.from.includes(from) && each.to.includes(to));
  if (converter === undefined) throw new Error(`Nothing converts ${from} to ${to}`);
  return Buffer.from(
    (await converter.convert(bytes, { from, to, maxOutputBytes: 1_000_000, maxUnpackedBytes: 1 })) as string,
  );
}

const factsOf = async (bytes: Uint8Array, from: string): Promise<unknown> =>
  JSON.parse(String(await convert(bytes, from, JSON_TYPE)));

const museum = (name: string): Promise<Buffer> => readFile(join(MUSEUM, name));

const canvas = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c02020' } });

/** Different on the left and on the right, so that a turned image can be recognised. */
const halves = (width: number, height: number) =>
  canvas(width, height).composite([
    { input: { create: { width: width / 2, height, channels: 3, background: '#2020c0' } }, left: 0, top: 0 },
  ]);

/** A photograph as a telephone takes it: rotated, with all its metadata. */
const photograph = () =>
  halves(1_600, 800)
    .withExif({
      IFD0: {
        Make: 'Voigtlander',
        Model: 'Bessa',
        Artist: 'A. Visitor',
        DateTime: '2024:05:02 08:00:00',
      },
      IFD2: {
        DateTimeOriginal: '2024:05:01 12:30:00',
        OffsetTimeOriginal: '+02:00',
        ExposureTime: '1/125',
        FNumber: '28/10',
        ISOSpeedRatings: '200',
        LensModel: 'Skopar',
      },
      IFD3: {
        GPSLatitudeRef: 'S',
        GPSLatitude: '33/1 51/1 36/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '151/1 12/1 40/1',
        GPSAltitudeRef: '0',
        GPSAltitude: '58/1',
      },
    })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();

describe('a smaller image [2093-6]', () => {
  it.each([
    ['image/png', () => canvas(1_600, 800).png().toBuffer()],
    ['image/jpeg', () => canvas(1_600, 800).jpeg().toBuffer()],
    ['image/gif', () => canvas(1_600, 800).gif({ effort: 1 }).toBuffer()],
    ['image/avif', () => canvas(1_600, 800).avif({ effort: 0 }).toBuffer()],
    ['image/tiff', () => canvas(1_600, 800).tiff().toBuffer()],
    ['image/svg+xml', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="800"/>')],
  ])('has 1,024 pixels on its longer side: %s', async (type, make) => {
    const { format, width, height } = await sharp(await convert(await make(), type, WEBP)).metadata();
    expect({ format, width, height }).toEqual({ format: 'webp', width: 1_024, height: 512 });
  });

  it('is a JPEG of WebP, white where that is transparent, and never larger than the original', async () => {
    const glass = { create: { width: 8, height: 4, channels: 4 as const, background: { r: 0, g: 0, b: 0, alpha: 0 } } };
    const made = await convert(await sharp(glass).webp().toBuffer(), WEBP, 'image/jpeg');
    const { data, info } = await sharp(made).raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, ...data.subarray(0, 3)]).toEqual([8, 4, 255, 255, 255]);
  });

  it('is upright, and without the place and the author', async () => {
    const made = await convert(await photograph(), 'image/jpeg', WEBP);
    const { width, height, exif, xmp, orientation } = await sharp(made).metadata();
    expect({ width, height, exif, xmp, orientation }).toMatchObject({ width: 512, height: 1_024 });
    expect([exif, xmp, orientation]).toEqual([undefined, undefined, undefined]);
    const { data, info } = await sharp(made).raw().toBuffer({ resolveWithObject: true });
    const redAt = (row: number): number => data[row * info.width * info.channels] ?? -1;
    expect(redAt(10)).toBeLessThan(64);
    expect(redAt(1_000)).toBeGreaterThan(128);
  });

  it('is the first frame of an animation', async () => {
    const made = await convert(await museum('collection/clocks/hands.gif'), 'image/gif', WEBP);
    expect(await sharp(made).metadata()).toMatchObject({ format: 'webp', width: 160, height: 160 });
    expect((await sharp(made).metadata()).pages ?? 1).toBe(1);
  });

  it('is made by the declared type of the bytes, and no other', async () => {
    const svg = await museum('collection/clocks/escapement.svg');
    await expect(convert(svg, 'image/png', WEBP)).rejects.toThrow('The image is svg');
    await expect(convert(Buffer.from('P2 1 1 1 1'), 'image/png', WEBP)).rejects.toThrow();
  });

  it('of a drawing reads no file and no server', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-media-'));
    try {
      const red = await canvas(8, 8).png().toFile(join(folder, 'red.png'));
      expect(red.width).toBe(8);
      const file = pathToFileURL(join(folder, 'red.png')).href;
      const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}/red.png`;
      const drawn = async (inside: string): Promise<boolean> => {
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="8" height="8">${inside}</svg>`;
        const made = await convert(Buffer.from(svg), 'image/svg+xml', WEBP);
        return (await sharp(made).raw().toBuffer()).some((each) => each !== 0);
      };
      const image = (href: string): string => `<image width="8" height="8" href="${href}"/>`;
      const data = `data:image/png;base64,${(await canvas(8, 8).png().toBuffer()).toString('base64')}`;
      expect(await drawn(image(data))).toBe(true);
      for (const href of [file, join(folder, 'red.png'), 'red.png', web]) {
        expect(await drawn(image(href)), href).toBe(false);
        expect(await drawn(`<image width="8" height="8" xlink:href="${href}"/><use href="${href}#a"/>`)).toBe(false);
      }
      expect(await drawn(`<style>@import url(${web});</style>`)).toBe(false);
      expect(asked).toEqual([]);
    } finally {
      server.close();
      await rm(folder, { recursive: true });
    }
  });
});

describe('the facts of an image [2093-6]', () => {
  it('are its size as shown, and those of the camera', async () => {
    expect(await factsOf(await photograph(), 'image/jpeg')).toMatchObject({
      format: 'jpeg',
      width: 800,
      height: 1_600,
      orientation: 6,
      takenAt: '2024-05-01T12:30:00+02:00',
      changedAt: '2024-05-02T08:00:00',
      artist: 'A. Visitor',
      camera: { make: 'Voigtlander', model: 'Bessa', lens: 'Skopar' },
      exposure: { seconds: 0.008, aperture: 2.8, sensitivity: 200 },
      place: { latitude: -33.86, longitude: 151.211111, altitudeMetres: 58 },
    });
  });

  it('can be a table', async () => {
    const text = String(await convert(await photograph(), 'image/jpeg', MARKDOWN));
    expect(text).toMatch(
      /^# Image\n\n\| Property \| Value \|\n\| --- \| --- \|\n\| Format \| jpeg \|\n\| Width \| 800 \|/,
    );
    expect(text).toContain('| Camera: model | Bessa |\n');
    expect(text).toContain('| Place: altitude (metres) | 58 |\n');
  });

  it('include its frames, and their duration', async () => {
    expect(await factsOf(await museum('collection/clocks/hands.gif'), 'image/gif')).toMatchObject({
      format: 'gif',
      frames: 12,
      durationSeconds: 4.2,
    });
  });

  it('come from its header, of any size, and leave out invalid Exif', async () => {
    const huge = png(60_000, 60_000, Buffer.alloc(10), { exif: Buffer.from('MM\0*\xff\xff\xff\xff', 'latin1') });
    expect(await factsOf(huge, 'image/png')).toMatchObject({ format: 'png', width: 60_000, height: 60_000 });
    expect(await factsOf(await canvas(8, 8).avif({ effort: 0 }).toBuffer(), 'image/avif')).toMatchObject({
      format: 'av1',
    });
  });
});

describe('the facts of sounds and films [2093-6]', () => {
  it('of a WAV file are its format, length, rates and size', async () => {
    expect(await factsOf(await museum('collection/clocks/tick.wav'), 'audio/wav')).toEqual({
      container: 'WAVE',
      codec: 'PCM',
      durationSeconds: 1,
      bitsPerSecond: 128_000,
      sampleRateHertz: 8_000,
      bitsPerSample: 16,
      channels: 1,
      lossless: true,
      bytes: 16_044,
    });
  });

  it('include tags and chapters, and the number of covers', async () => {
    const cover = await canvas(8, 8).png().toBuffer();
    const frames = [
      textFrame('TIT2', 'Winding | the clock'),
      textFrame('TPE1', 'Curators'),
      textFrame('TRCK', '1/12'),
      coverFrame(cover),
      chapterFrame('a', 0, 'The key'),
      chapterFrame('b', 500, 'The spring'),
    ];
    const facts = await factsOf(mp3(frames), 'audio/mpeg');
    expect(facts).toMatchObject({
      container: 'MPEG',
      codec: 'MPEG 1 Layer 3',
      sampleRateHertz: 44_100,
      covers: 1,
      tags: { track: '1 of 12', title: 'Winding | the clock', artist: 'Curators' },
      chapters: [
        { startSeconds: 0, title: 'The key' },
        { startSeconds: 0.5, title: 'The spring' },
      ],
    });
    expect(JSON.stringify(facts).length).toBeLessThan(1_000);
    const text = String(await convert(mp3(frames), 'audio/mpeg', MARKDOWN));
    expect(text).toMatch(/^# Audio\n/);
    expect(text).toContain('| Tags: title | Winding \\| the clock |\n');
    expect(text).toContain(
      '\n## Chapters\n\n| Start (seconds) | Title |\n| --- | --- |\n| 0 | The key |\n| 0.5 | The spring |\n',
    );
  });

  it('of an MPEG-4 film are its length, picture size, tags and tracks', async () => {
    expect(await factsOf(mp4('The tower clock'), 'video/mp4')).toMatchObject({
      durationSeconds: 12.5,
      width: 640,
      height: 360,
      tags: { title: 'The tower clock' },
      tracks: [{ codec: 'avc1' }],
    });
  });

  it('of a WebM film are its length, tags and tracks', async () => {
    expect(await factsOf(webm('The tower clock'), 'video/webm')).toMatchObject({
      container: expect.stringContaining('webm'),
      durationSeconds: 3,
      tags: { title: 'The tower clock' },
      tracks: [
        { type: 'video', codec: 'VP9', width: 640, height: 360 },
        { type: 'audio', codec: 'OPUS', channels: 2, sampleRateHertz: 48_000 },
      ],
    });
  });
});
