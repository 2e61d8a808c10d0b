/** The bytes of an archive, wherever they lie, read at any position. */
import { ResourceError } from '../../core/errors.ts';
import { BLOCK_BYTES } from './limits.ts';

export interface SourceHandle {
  /** As much as there is at this position, at most `length`; 0 at the end. */
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface Source {
  /** Bytes. */
  readonly size: number;
  /** Opened for one operation, and closed after it. @throws ResourceError `unavailable` when it is not what it was */
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

/** Fills the buffer from a position on. @throws ResourceError `invalid` where the file ends before */
export async function fill(handle: SourceHandle, buffer: Buffer, position: number): Promise<void> {
  for (let filled = 0; filled < buffer.byteLength; ) {
    const read = await handle.read(buffer, filled, buffer.byteLength - filled, position + filled);
    if (read === 0) throw damaged('it ends too early');
    filled += read;
  }
}

/** The bytes from one position to another, block by block. */
export async function* blocks(handle: SourceHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, to - at));
    await fill(handle, block, at);
    at += block.byteLength;
    yield block;
  }
}

/** Reads small pieces that lie side by side out of blocks that it keeps. */
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
  new ResourceError('invalid', `The archive is damaged, or is none: ${how}`, { cause });
