/** Decompresses a stream, and never more of it than is wanted. */
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ResourceError } from '../../core/errors.ts';
import { damaged } from './source.ts';

/** @param from bytes at the beginning that are left out. @param to where it ends at the latest: nothing behind is looked at */
export async function* decompressed(
  chunks: AsyncIterable<Uint8Array>,
  decompressor: Transform,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let failure: unknown;
  // The error of the pipeline reaches the reader, too.
  const flowing = pipeline(Readable.from(chunks), decompressor).catch((error: unknown) => {
    failure ??= error;
  });
  let at = 0;
  try {
    for await (const chunk of decompressor as AsyncIterable<Buffer>) {
      const start = at;
      at += chunk.byteLength;
      // One byte more than there should be is given on: whoever counts sees that it is wrong.
      if (at > from) yield chunk.subarray(Math.max(0, from - start), Math.min(chunk.byteLength, to + 1 - start));
      if (at > to) return;
    }
  } catch (error) {
    if (failure instanceof ResourceError) throw failure;
    throw error instanceof ResourceError ? error : damaged('it cannot be decompressed', error);
  } finally {
    decompressor.destroy();
    await flowing;
  }
}
