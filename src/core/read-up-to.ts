/** Reads a file that is small, or else not at all. */
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/** The largest file of certificates or a key that is read, in bytes. A chain of certificates has a few thousand. */
export const MAX_PEM_BYTES = 1024 * 1024;

/**
 * Returns the bytes of a file; undefined if there are more than `maxBytes`, of which one more at most is read.
 * @throws the errors of the file system
 */
export async function readUpTo(path: string, maxBytes: number): Promise<Buffer | undefined> {
  // `end` is inclusive, so this reads one byte more than the limit. If that byte exists, the file is too long.
  const bytes = await buffer(createReadStream(path, { end: maxBytes }));
  return bytes.byteLength > maxBytes ? undefined : bytes;
}
