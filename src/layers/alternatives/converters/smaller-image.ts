/** Images in the size that models look at them in, and without what cameras write into them. */
import { ResourceError } from '../../../core/errors.ts';
import type { Converter } from './converter.ts';
import { IMAGE_TYPES, openImage } from './image.ts';

/** The longer side of what is made, in pixels; what is smaller stays as large as it is. */
const MAX_SIDE = 1_024;

/** Of an image that is decoded. */
const MAX_PIXELS = 100_000_000;

const WEBP = 'image/webp';
const JPEG = 'image/jpeg';

/** Another type than its own, which a reader could not tell from the original. */
const smaller = (from: readonly string[], to: string): Converter => ({
  name: `smaller-image-${to.slice('image/'.length)}`,
  from,
  to: [to],
  needs: ['sharp'],
  async convert(bytes, conversion) {
    const { header, image } = await openImage(bytes, conversion.from, MAX_PIXELS);
    if (header.width * header.height > MAX_PIXELS)
      throw new ResourceError('too-large', `The image has more than ${MAX_PIXELS} pixels`, {
        details: { limit: MAX_PIXELS },
      });
    const resized = image.resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true });
    // JPEG knows no transparency: what shows through is paper.
    const made = to === JPEG ? resized.flatten({ background: '#fff' }).jpeg({ quality: 80 }) : resized.webp();
    return made.toBuffer();
  },
});

export const smallerImage: Converter = smaller(
  IMAGE_TYPES.filter((type) => type !== WEBP),
  WEBP,
);

export const smallerWebp: Converter = smaller([WEBP], JPEG);
