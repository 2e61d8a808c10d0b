/** Gives access to the folder of an untrusted repository. Git itself does not open this folder. */
import { ResourceError } from '../../core/errors.ts';

/** The folder of a repository. Links in it are not followed. */
export interface Source {
  /** Returns the entries of a folder; undefined if there is none at this path. */
  entries(path: readonly string[]): Promise<readonly SourceEntry[] | undefined>;
  /** Opens a file; undefined if there is none at this path. */
  open(path: readonly string[]): Promise<SourceFile | undefined>;
}

interface SourceEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

export interface SourceFile {
  /** Bytes. */
  readonly size: number;
  /** A path by which git can read this file, as long as the file is open. */
  readonly path: string;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Reads a small file; undefined if there is none at this path. @throws ResourceError `too-large` */
export async function small(source: Source, path: readonly string[], maxBytes: number): Promise<Buffer | undefined> {
  const file = await source.open(path);
  if (file === undefined) return undefined;
  try {
    if (file.size > maxBytes)
      throw new ResourceError('too-large', `A file of the repository has more than ${maxBytes} bytes: ${path.at(-1)}`);
    return await wholeOf(file);
  } finally {
    await file.close();
  }
}

/** Reads a file up to the size that it had when it was opened. */
export async function wholeOf(file: SourceFile): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  let filled = 0;
  while (filled < bytes.byteLength) {
    const read = await file.read(bytes, filled, bytes.byteLength - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}
