/** The folder of a repository that git does not see: its names and files, and the content of small ones. */
import { ResourceError } from '../../core/errors.ts';

/** The repository's own folder: the names in it, and its files, never through a link. */
export interface Source {
  entries(path: readonly string[]): Promise<readonly SourceEntry[] | undefined>;
  open(path: readonly string[]): Promise<SourceFile | undefined>;
}

interface SourceEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

export interface SourceFile {
  /** Bytes. */
  readonly size: number;
  /** Leads git to this file for as long as it is open. */
  readonly path: string;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

/** The content of a small file; undefined where there is none. @throws ResourceError `too-large` */
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

/** The bytes of a file, up to the size that it had when it was opened. */
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
