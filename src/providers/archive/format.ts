/** The interface of an archive format: it lists the entries of an archive, and reads the bytes of one. */
import type { Source, SourceHandle } from './source.ts';
import type { EntryPlace, Tree } from './tree.ts';

export interface Format {
  /**
   * Lists the entries of an archive.
   * @throws ResourceError `invalid` if it is damaged or not an archive, `too-large`
   */
  index(source: Source, handle: SourceHandle, signal: AbortSignal): Promise<Tree>;
  /**
   * Reads the decompressed bytes of an entry.
   * @param size the size of the entry, decompressed
   * @param from the first byte to read, counted from the beginning of the entry
   * @throws ResourceError `invalid`, the reason of the signal
   */
  data(
    handle: SourceHandle,
    source: Source,
    at: EntryPlace,
    size: number,
    from: number,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;
}
