/** Opens an image, and refuses bytes that are not of the expected type. */
import type { Metadata, Sharp } from 'sharp';

/** The name that `sharp` has for each MIME type of images. */
const FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'heif',
  'image/tiff': 'tiff',
  'image/svg+xml': 'svg',
};

/** The only loaders that may run. They read from memory, so a relative link in an SVG has no base and leads to no file. */
const LOADERS = ['Png', 'Jpeg', 'Webp', 'Nsgif', 'Heif', 'Tiff', 'Svg'].map((name) => `VipsForeignLoad${name}`);

/** An image that was opened but not decoded. */
export interface OpenImage {
  /** The facts in the header of the image; nothing was decoded for them. */
  readonly header: Metadata;
  /** The first frame of the image, the right way up. */
  readonly image: Sharp;
}

/**
 * @param from the MIME type that the image must have
 * @param maxPixels the most pixels that may be decoded
 * @throws Error unless the bytes are an image of that type
 */
export async function openImage(bytes: Uint8Array, from: string, maxPixels: number): Promise<OpenImage> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  const header = await sharp(bytes, { limitInputPixels: false }).metadata();
  if (header.format !== FORMATS[from.toLowerCase()]) throw new Error(`The image is ${header.format}`);
  return { header, image: sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', autoOrient: true }) };
}
