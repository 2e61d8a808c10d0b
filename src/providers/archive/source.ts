/** Reads the bytes of an archive, in memory or on disk, at any position. */
import { ResourceError } from '../../core/errors.ts';
import { BLOCK_BYTES } from './limits.ts';

export interface SourceHandle {
  /** Reads at most `length` bytes at a position into the buffer, and returns how many; 0 at the end. */
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface Source {
  /** Bytes. */
  readonly size: number;
  /** Opens it for one operation; the caller closes it. @throws ResourceError `unavailable` when the file has changed */
  open(): Promise<SourceHandle>;
}

/** Bytes in memory. */
export const bytesSource = (bytes: Uint8Array): Source => ({
  size: bytes.byteLength,
  open: async () => ({
    async read(buffer, offset, length, position) {
      const part = bytes.subarray(position, position + length);
      buffer.set(part, offset);
      return part.byteLength;
    },
    close: async () => {},
  }),
});

/** Fills the whole buffer from a position. @throws ResourceError `invalid` if the file ends before the buffer is full */
export async function fill(handle: SourceHandle, buffer: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < buffer.byteLength; ) {
    const read = await handle.read(buffer, filled, buffer.byteLength - filled, position + filled);
    if (read === 0) throw damaged('it ends too early');
    filled += read;
  }
}

/** Reads the bytes from one position to another, block by block. */
export async function* blocks(handle: SourceHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, to - at));
    await fill(handle, block, at);
    at += block.byteLength;
    yield block;
  }
}

/** Reads adjacent small pieces out of blocks that it caches. */
export function buffered(handle: SourceHandle, size: number): (length: number, position: number) => Promise<Buffer> {
  let block: Buffer = Buffer.alloc(0);
  let start = 0;
  return async (length, position) => {
    if (position < start || position + length > start + block.byteLength) {
      const wanted = Math.max(length, Math.min(BLOCK_BYTES, size - position));
      if (position < 0 || length < 0 || position + length > size) throw damaged('it ends too early');
      const next = Buffer.allocUnsafeSlow(wanted);
      await fill(handle, next, position);
      block = next;
      start = position;
    }
    return block.subarray(position - start, position - start + length);
  };
}

export const damaged = (how: string, cause?: unknown): ResourceError =>
  new ResourceError('invalid', `The file is damaged or is not an archive: ${how}`, { cause });
