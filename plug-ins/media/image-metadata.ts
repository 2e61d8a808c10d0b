/** Tells the size and format of an image, and the facts that a camera wrote into it. */
import type { Exif } from 'exif-reader';
import type { Metadata } from 'sharp';
import type { Convert } from 'vitrine/plug-in';
import { type Fact, type Facts, factsText } from './facts.ts';
import { openImage } from './image.ts';

/** Writes facts about an image as JSON or Markdown. @throws Error for an image of another type, or none */
export const imageMetadata: Convert = async (bytes, conversion) => {
  // One pixel is enough as the limit: only the header is read, and nothing is decoded.
  const { header } = await openImage(bytes, conversion.from, 1);
  const facts = { ...headerFacts(header), bytes: bytes.byteLength, ...(await exifFacts(header.exif)) };
  return factsText('Image', { ...facts, comments: commentsIn(header) }, conversion);
};

/** Returns the facts in a header. Width and height are those of the image turned the right way up. */
function headerFacts(header: Metadata): Facts {
  const { autoOrient, orientation, density, pages, delay } = header;
  const several = pages !== undefined && pages > 1;
  return {
    format: header.format === 'heif' ? (header.compression ?? 'heif') : header.format,
    width: autoOrient.width,
    height: autoOrient.height,
    orientation,
    dotsPerInch: density,
    colourSpace: header.space,
    channels: header.channels,
    bitsPerSample: header.bitsPerSample,
    transparency: header.hasAlpha,
    progressive: header.isProgressive,
    colourProfile: header.hasProfile,
    ...(several && (delay === undefined ? { pages } : { frames: pages })),
    durationSeconds: several && delay !== undefined ? sum(delay) / 1_000 : undefined,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Returns the text chunks of a PNG. */
const commentsIn = ({ comments }: Metadata): readonly Facts[] | undefined =>
  comments?.map(({ keyword, text }) => ({ keyword, text }));

async function exifFacts(exif: Buffer | undefined): Promise<Facts> {
  if (exif === undefined) return {};
  const { default: readExif } = await import('exif-reader');
  let found: Exif;
  try {
    found = readExif(exif);
  } catch {
    // The other facts are still right.
    return { exif: 'It cannot be read' };
  }
  const { Image: image = {}, Photo: photo = {}, GPSInfo: gps = {} } = found;
  return {
    takenAt: localTime(photo.DateTimeOriginal ?? image.DateTimeOriginal, photo.OffsetTimeOriginal),
    changedAt: localTime(image.DateTime, photo.OffsetTime),
    description: textIn(image.ImageDescription),
    artist: textIn(image.Artist),
    copyright: textIn(image.Copyright),
    camera: {
      make: textIn(image.Make),
      model: textIn(image.Model),
      lens: textIn(photo.LensModel),
      software: textIn(image.Software),
    },
    exposure: {
      seconds: numberIn(photo.ExposureTime),
      aperture: numberIn(photo.FNumber),
      sensitivity: numberIn(photo.ISOSpeedRatings),
      focalLengthMillimetres: numberIn(photo.FocalLength),
    },
    place: {
      latitude: degrees(gps.GPSLatitude, gps.GPSLatitudeRef, 'S', 90),
      longitude: degrees(gps.GPSLongitude, gps.GPSLongitudeRef, 'W', 180),
      altitudeMetres: altitude(gps.GPSAltitude, gps.GPSAltitudeRef),
    },
  };
}

// A file may have a value of the wrong type in any field.
const textIn = (value: unknown): Fact => (typeof value === 'string' ? value : undefined);

const numberIn = (value: unknown): number | undefined => {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'number' ? first : undefined;
};

/** Returns the time of the camera's clock, with the offset from UTC if the camera knew it. */
function localTime(value: unknown, offset: unknown): string | undefined {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  const zone = typeof offset === 'string' && /^[+-]\d\d:\d\d/.exec(offset)?.[0];
  return value.toISOString().slice(0, 19) + (zone || '');
}

function degrees(value: unknown, ref: unknown, negative: string, most: number): number | undefined {
  if (!Array.isArray(value)) return undefined;
  const [whole, minutes = 0, seconds = 0] = value.map(Number);
  if (whole === undefined) return undefined;
  const found = whole + minutes / 60 + seconds / 3_600;
  if (!(found >= 0 && found <= most)) return undefined;
  return Number((ref === negative ? -found : found).toFixed(6));
}

function altitude(value: unknown, ref: unknown): number | undefined {
  const metres = numberIn(value);
  const below = numberIn(ref instanceof Uint8Array ? [...ref] : ref) === 1;
  return metres === undefined ? undefined : below ? -metres : metres;
}
