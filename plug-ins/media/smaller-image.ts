/** Shrinks images to a size that is enough for models, and removes the data that cameras write into them. */
import { type Convert, ResourceError } from 'vitrine/plug-in';
import { openImage } from './image.ts';

/** The most pixels of the longer side of the new image. A smaller image keeps its size. */
const MAX_SIDE = 1_024;

/** The most pixels of an image that is decoded. */
const MAX_PIXELS = 100_000_000;

/**
 * Makes a smaller image as WebP or JPEG.
 * @throws ResourceError `too-large` for an image of too many pixels; Error for an image of another type, or none
 */
export const smallerImage: Convert = async (bytes, { from, to }) => {
  const { header, image } = await openImage(bytes, from, MAX_PIXELS);
  if (header.width * header.height > MAX_PIXELS)
    throw new ResourceError('too-large', `The image has more than ${MAX_PIXELS} pixels`, {
      details: { limit: MAX_PIXELS },
    });
  const resized = image.resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true });
  // JPEG has no transparency: the background becomes white.
  const encoded = to === 'image/jpeg' ? resized.flatten({ background: '#fff' }).jpeg({ quality: 80 }) : resized.webp();
  return encoded.toBuffer();
};
