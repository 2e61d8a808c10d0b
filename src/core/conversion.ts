/** A conversion of a document, as plug-ins and built-in converters make it. */

/** The limits of one conversion. */
export interface ConversionLimits {
  /** Bytes of the made format. */
  readonly maxOutputBytes: number;
  /** Bytes that an archive may have when it is unpacked, over all its files. */
  readonly maxUnpackedBytes: number;
}

/** One conversion: its two types and its limits. */
export interface Conversion extends ConversionLimits {
  /** The type of the bytes. */
  readonly from: string;
  /** The type that is wanted; one of the converter's `to`. */
  readonly to: string;
}

/** Makes the other format. @throws whatever is wrong with the content; ResourceError `too-large` where a limit is reached */
export type Convert = (bytes: Uint8Array, conversion: Conversion) => Promise<string | Uint8Array>;

/** Converters by their names; the default export of a plug-in that makes other formats. */
export type ConverterPlugIn = Readonly<Record<string, Convert>>;
