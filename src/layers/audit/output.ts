/** Defines an output for audit lines, and the output to standard error. `fileOutput` is the output to a file. */
import { write } from 'node:fs';
import { promisify } from 'node:util';
import { BEGINNING, type Link } from './chain.ts';

/** Changes that another program made to the audit file while it was written. */
export type Interference =
  /** The file was deleted. */
  | 'deleted'
  /** The file, or its folder, has another path now. */
  | 'renamed'
  /** The file was deleted, and another file has its path. */
  | 'replaced'
  /** The file is shorter than it was. */
  | 'truncated'
  /** The file is longer than Vitrine has written it. */
  | 'appended';

export interface Renewed {
  readonly why: Interference;
  /** Bytes of an unfinished line that were removed from the end of the file now at the path. */
  readonly cut: number;
}

export interface AuditOutput {
  /** The last link of the chain: the next line continues from it. */
  readonly last: Link;
  /** Bytes of an unfinished line that were removed: a process that is killed while it writes leaves one. */
  readonly cut: number;
  /** The file's size in bytes. It may grow to `maxBytes` before `rotate`; an empty file takes one line of any length. */
  size(): number;
  readonly maxBytes: number;
  /** The most files that are kept, including the current one. */
  readonly maxFiles: number;
  /** The numbers of the first lines of the files, oldest first. */
  beginnings(): readonly number[];
  /**
   * Checks that the open file is still the one at its path, and as long as it was written. Else opens the one at the path.
   * @param unfinished bytes of a line that has been written in part
   * @returns the change that was found; undefined when there was none
   */
  renew(unfinished: number): Promise<Renewed | undefined>;
  /** Returns the number of bytes written; fewer than given when the disk is full. */
  write(bytes: Uint8Array): Promise<number>;
  /** Renames the current file and begins an empty one. May be called again after a failure. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

const writeTo = promisify(write);
const STDERR = 2;

/** Writes to standard error. Earlier lines are unknown there, so each process has its own chain. */
export function errorOutput(): AuditOutput {
  return {
    last: BEGINNING,
    cut: 0,
    size: () => 0,
    maxBytes: Number.POSITIVE_INFINITY,
    maxFiles: 1,
    beginnings: () => [],
    renew: async () => undefined,
    // `process.stderr` would block the whole process on a slow reader.
    write: async (bytes) => (await writeTo(STDERR, bytes)).bytesWritten,
    rotate: async () => {},
    close: async () => {},
  };
}
