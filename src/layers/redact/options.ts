/** What may be said of redaction. */

export interface RedactOptions {
  /** Globs over URIs as they are published: only these are looked through. Default: all. */
  readonly uris?: readonly string[] | undefined;
  /** Globs over URIs that are not looked through. Default: none. */
  readonly except?: readonly string[] | undefined;
  /** `redact` (default): a mark is put over each secret; `refuse`: what has one in it is not given. */
  readonly action?: 'redact' | 'refuse' | undefined;
  /** Bytes that are looked through at once; what is larger is given in windows only. Default: 8,388,608. */
  readonly maxBytes?: number | undefined;
}

/** More than a read takes by default (`limits.maxReadBytes`). */
export const DEFAULT_MAX_BYTES = 8 * 1024 * 1024;
