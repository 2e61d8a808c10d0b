/** Images in the size that models look at them in, and without what cameras write into them. */
import { type Convert, ResourceError } from 'vitrine/plug-in';
import { openImage } from './image.ts';

/** The longer side of what is made, in pixels; what is smaller stays as large as it is. */
const MAX_SIDE = 1_024;

/** Of an image that is decoded. */
const MAX_PIXELS = 100_000_000;

/** Writes a smaller image of the type that is wanted: WebP, or JPEG. */
export const smallerImage: Convert = async (bytes, { from, to }) => {
  const { header, image } = await openImage(bytes, from, MAX_PIXELS);
  if (header.width * header.height > MAX_PIXELS)
    throw new ResourceError('too-large', `The image has more than ${MAX_PIXELS} pixels`, {
      details: { limit: MAX_PIXELS },
    });
  const resized = image.resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true });
  // JPEG knows no transparency: what shows through is paper.
  const made = to === 'image/jpeg' ? resized.flatten({ background: '#fff' }).jpeg({ quality: 80 }) : resized.webp();
  return made.toBuffer();
};
