/** Limits for the work that one archive may cause, whatever its headers claim. */

/** The most entries of one archive, counted together with the folders that their names make. */
export const MAX_ENTRIES = 100_000;

/** The most bytes of all entries, decompressed. The limit of a compressed tar is lower, since all of it is decompressed. */
export const MAX_TOTAL_BYTES = 64 * 1024 ** 3;
export const MAX_COMPRESSED_TAR_BYTES = 2 * 1024 ** 3;

/** The most bytes of one entry, decompressed. */
export const MAX_ENTRY_BYTES = 1024 ** 3;

/**
 * The highest ratio of decompressed to compressed bytes, checked beyond `RATIO_FROM_BYTES` of decompressed bytes. It is about
 * 10 for documents, and 1,000 for zeros.
 */
export const MAX_RATIO = 200;
export const RATIO_FROM_BYTES = 8 * 1024 ** 2;

/** The most folders that an entry may lie in. */
export const MAX_DEPTH = 64;

/** The most bytes of the names and attributes that come before one entry of a tar. */
export const MAX_EXTENSION_BYTES = 256 * 1024;

/** Bytes that are read from the file at a time. */
export const BLOCK_BYTES = 64 * 1024;

/** Milliseconds that listing the entries of an archive may take. */
export const INDEX_MS = 60_000;

/** Bytes of memory that an entry of an index takes, approximately. */
export const ENTRY_WEIGHT = 400;
