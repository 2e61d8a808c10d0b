/** Unpacks the bytes of an answer as they come, up to a limit. */
import { PassThrough, pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ResourceError } from '../../core/errors.ts';
import type { WebAnswer } from './send.ts';

/** The encodings that a request for whole content accepts. */
export const ENCODINGS = 'gzip, deflate, br';

/** Whether the answer is packed, so that its length is not that of the content. */
export const isPacked = (answer: WebAnswer): boolean => encodingOf(answer) !== 'identity';

function encodingOf(answer: WebAnswer): string {
  const encoding = answer.header('content-encoding')?.trim().toLowerCase();
  return encoding === undefined || encoding === '' ? 'identity' : encoding;
}

/**
 * Yields the unpacked content, and closes the answer at the end.
 * @param maxBytes the most bytes of the unpacked content; nothing beyond them is unpacked
 * @throws ResourceError `unavailable` for an encoding that is unknown, nested or broken; `too-large`
 */
export async function* unpacked(answer: WebAnswer, maxBytes: number, uri: string): AsyncIterable<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of plain(answer, uri)) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes, uri);
      yield chunk;
    }
  } finally {
    answer.close();
  }
}

export const tooLarge = (maxBytes: number, uri: string): ResourceError =>
  new ResourceError('too-large', `The resource is over the limit of ${maxBytes} bytes`, { uri, details: { maxBytes } });

function plain(answer: WebAnswer, uri: string): AsyncIterable<Uint8Array> {
  switch (encodingOf(answer)) {
    case 'identity':
      return answer.chunks;
    case 'gzip':
    case 'x-gzip':
      return through(answer, createGunzip(), uri);
    case 'deflate':
      return through(answer, createInflate(), uri);
    case 'br':
      return through(answer, createBrotliDecompress(), uri);
    default:
      throw new ResourceError('unavailable', 'The web server packs its answer in an unknown way', { uri });
  }
}

async function* through(answer: WebAnswer, unpack: NodeJS.ReadWriteStream, uri: string): AsyncIterable<Uint8Array> {
  const out = new PassThrough();
  let failure: unknown;
  pipeline(Readable.from(answer.chunks), unpack, out, (error) => {
    failure = error;
  });
  try {
    for await (const chunk of out) yield chunk as Uint8Array;
  } catch (error) {
    const cause = failure ?? error;
    if (cause instanceof ResourceError) throw cause;
    throw new ResourceError('unavailable', 'The packed answer of the web server is broken', { uri, cause });
  } finally {
    out.destroy();
  }
}
