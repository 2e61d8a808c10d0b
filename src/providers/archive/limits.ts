/** How much one archive may ask of the server, whatever it says of itself. */

/** The most entries of one archive, and the folders that their names make. */
export const MAX_ENTRIES = 100_000;

/** The most bytes of all entries, decompressed. A compressed tar is gone through whole, so it has less. */
export const MAX_TOTAL_BYTES = 64 * 1024 ** 3;
export const MAX_COMPRESSED_TAR_BYTES = 2 * 1024 ** 3;

/** The most bytes of one entry, decompressed. */
export const MAX_ENTRY_BYTES = 1024 ** 3;

/** How many times its size something may decompress to, from this many bytes on: a document has 10, zeros have 1,000. */
export const MAX_RATIO = 200;
export const RATIO_FROM_BYTES = 8 * 1024 ** 2;

/** The most folders that an entry may lie in. */
export const MAX_DEPTH = 64;

/** The most bytes of the names and attributes that come before one entry of a tar. */
export const MAX_EXTENSION_BYTES = 256 * 1024;

/** Bytes that are read of the file at a time. */
export const BLOCK_BYTES = 64 * 1024;

/** Milliseconds that it may take to find out what is in an archive. */
export const INDEX_MS = 60_000;

/** Bytes of memory that an entry of an index takes, about. */
export const ENTRY_WEIGHT = 400;
