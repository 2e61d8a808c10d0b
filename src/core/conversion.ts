/** The interface of conversions of documents, for plug-ins and built-in converters. */

/** The limits of one conversion. */
export interface ConversionLimits {
  /** The most bytes of the result. */
  readonly maxOutputBytes: number;
  /** The most bytes of all unpacked files of an archive together. */
  readonly maxUnpackedBytes: number;
}

/** One conversion: its two types and its limits. */
export interface Conversion extends ConversionLimits {
  /** The type of the bytes. */
  readonly from: string;
  /** The requested type; one of the converter's `to`. */
  readonly to: string;
}

/** Converts a document. @throws any error for a content that cannot be converted; ResourceError `too-large` over a limit */
export type Convert = (bytes: Uint8Array, conversion: Conversion) => Promise<string | Uint8Array>;

/** Converters by name; the default export of a plug-in that adds formats. */
export type ConverterPlugIn = Readonly<Record<string, Convert>>;
