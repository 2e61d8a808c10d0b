/** The interface of every kind of archive: an index of its entries, and the bytes of one. */
import type { Source, SourceHandle } from './source.ts';
import type { EntryPlace, Tree } from './tree.ts';

export interface Format {
  /**
   * Finds out what is in an archive.
   * @throws ResourceError `invalid` where it is damaged, or is none, `too-large`
   */
  index(source: Source, handle: SourceHandle, signal: AbortSignal): Promise<Tree>;
  /** The bytes of an entry of this size, decompressed, from this one on. @throws ResourceError `invalid` */
  data(handle: SourceHandle, source: Source, at: EntryPlace, size: number, from: number): AsyncIterable<Uint8Array>;
}
