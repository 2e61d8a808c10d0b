/** Decompresses a stream, up to a position. */
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ResourceError } from '../../core/errors.ts';
import { damaged } from './source.ts';

/**
 * Yields the decompressed bytes.
 * @param signal checked at each chunk, also at those before `from`
 * @param from the position of the first byte
 * @param to the position of the last byte: later bytes are not decompressed
 */
export async function* decompressed(
  chunks: AsyncIterable<Uint8Array>,
  decompressor: Transform,
  signal: AbortSignal,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let failure: unknown;
  // The reader gets the error of the pipeline, too.
  const flowing = pipeline(Readable.from(chunks), decompressor).catch((error: unknown) => {
    failure ??= error;
  });
  let at = 0;
  try {
    for await (const chunk of decompressor as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      const start = at;
      at += chunk.byteLength;
      // If `to` is the expected size, this includes one byte too many, which shows that the data are too long.
      if (at > from) yield chunk.subarray(Math.max(0, from - start), Math.min(chunk.byteLength, to + 1 - start));
      if (at > to) return;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (failure instanceof ResourceError) throw failure;
    throw error instanceof ResourceError ? error : damaged('it cannot be decompressed', error);
  } finally {
    decompressor.destroy();
    await flowing;
  }
}
