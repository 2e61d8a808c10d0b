/** Opening images: as the type that their bytes were found to have, and no other. */
import type { Metadata, Sharp } from 'sharp';

/** Types of images, with the name that the library has for each. */
const FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'heif',
  'image/tiff': 'tiff',
  'image/svg+xml': 'svg',
};

/** The only loaders that may open anything. They open it from memory: an SVG has no place that its links could start from. */
const LOADERS = ['Png', 'Jpeg', 'Webp', 'Nsgif', 'Heif', 'Tiff', 'Svg'].map((name) => `VipsForeignLoad${name}`);

export interface OpenImage {
  /** The facts in its header: nothing has been decoded. */
  readonly header: Metadata;
  /** The image as it is looked at: its first frame, the right way up. */
  readonly image: Sharp;
}

/**
 * @param maxPixels that may be decoded
 * @throws when it is not an image of this type
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
