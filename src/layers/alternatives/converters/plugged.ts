/** The converters of plug-ins: lists their types; the converting process loads their code. */
import type { ConverterPlugIn } from '../../../core/conversion.ts';
import { loadPlugIn } from '../../../core/plug-in.ts';
import type { Converter } from './converter.ts';

const WEBP = 'image/webp';
const NOT_WEBP = ['image/png', 'image/jpeg', 'image/gif', 'image/avif', 'image/tiff', 'image/svg+xml'];
const AUDIO =
  'mpeg mp4 x-m4a aac ogg opus wav x-wav vnd.wave flac x-flac aiff x-aiff x-ms-wma matroska x-matroska webm ape wavpack x-wavpack x-dsf x-musepack';
const VIDEO = 'mp4 x-m4v quicktime webm matroska x-matroska ogg x-ms-asf x-ms-wmv';

/** The types in which metadata can be written, the preferred one first. */
const FACTS = ['text/markdown', 'application/json'];

const typesOf = (kind: string, names: string): readonly string[] => names.split(' ').map((name) => `${kind}/${name}`);

function plugged(plugIn: 'media' | 'rtf', converter: Omit<Converter, 'convert'>): Converter {
  return {
    ...converter,
    async convert(bytes, conversion) {
      const { [converter.name]: convert } = await loadPlugIn<ConverterPlugIn>(plugIn);
      if (convert === undefined) throw new Error(`The plug-in ${plugIn} has no converter ${converter.name}`);
      return convert(bytes, conversion);
    },
  };
}

export const rtf = plugged('rtf', { name: 'rtf', from: ['application/rtf', 'text/rtf'], to: ['text/markdown'] });

/** Converters of images, sounds and films. A smaller image has another type, which tells it from the original. */
export const media: readonly Converter[] = [
  plugged('media', { name: 'smaller-image-webp', from: NOT_WEBP, to: [WEBP], needs: ['sharp'] }),
  plugged('media', { name: 'smaller-image-jpeg', from: [WEBP], to: ['image/jpeg'], needs: ['sharp'] }),
  plugged('media', { name: 'image-metadata', from: [...NOT_WEBP, WEBP], to: FACTS, needs: ['sharp', 'exif-reader'] }),
  plugged('media', {
    name: 'media-metadata',
    from: [...typesOf('audio', AUDIO), ...typesOf('video', VIDEO)],
    to: FACTS,
    needs: ['music-metadata'],
  }),
];
