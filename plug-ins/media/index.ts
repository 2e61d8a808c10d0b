/** Images, sounds and films: what is known of them as text, and images in the size that models look at. */
import type { ConverterPlugIn } from 'vitrine/plug-in';
import { imageMetadata } from './image-metadata.ts';
import { mediaMetadata } from './media-metadata.ts';
import { smallerImage } from './smaller-image.ts';

const plugIn: ConverterPlugIn = {
  'smaller-image-webp': smallerImage,
  'smaller-image-jpeg': smallerImage,
  'image-metadata': imageMetadata,
  'media-metadata': mediaMetadata,
};
export default plugIn;
