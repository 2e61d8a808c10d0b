/**
 * Defines a converter. Each converter is one file, and one line in `index.ts`. It loads the packages that it needs only when it
 * runs, in a process of its own: the server only uses the names of the types.
 */
import type { Conversion, Convert } from '../../../core/conversion.ts';
import { ResourceError } from '../../../core/errors.ts';

export type { Conversion, ConversionLimits, Convert } from '../../../core/conversion.ts';

export interface Converter {
  /** Stable, and unique among converters: it is a part of the key of kept formats. */
  readonly name: string;
  /** MIME types that it reads. */
  readonly from: readonly string[];
  /** MIME types that it writes, the preferred one first. */
  readonly to: readonly string[];
  /** Packages that it loads and that do not come with Vitrine; without them its formats are not offered. */
  readonly needs?: readonly string[];
  readonly convert: Convert;
}

/** The error for a format, or an input, that is over a limit. @param unit of the limit. Default: `bytes` */
export const tooMuch = (what: string, limit: number, unit = 'bytes'): ResourceError =>
  new ResourceError('too-large', `${what} is larger than ${limit} ${unit}`, { details: { limit } });

/** A text that grows up to a limit, counted in UTF-8. */
export interface Output {
  add(text: string): void;
  text(): string;
}

/** @throws ResourceError `too-large` from `add` */
export function createOutput({ maxOutputBytes }: Pick<Conversion, 'maxOutputBytes'>): Output {
  const parts: string[] = [];
  let bytes = 0;
  return {
    add(text) {
      bytes += Buffer.byteLength(text);
      if (bytes > maxOutputBytes) throw tooMuch('The format', maxOutputBytes);
      parts.push(text);
    },
    text: () => parts.join(''),
  };
}
