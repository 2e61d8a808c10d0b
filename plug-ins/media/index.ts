/** Converts images, sounds and films: to facts about them as text, and images to the size that models look at. */
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
