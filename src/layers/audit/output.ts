/** Writes audit lines to a file, or to standard error. */
import { write } from 'node:fs';
import { promisify } from 'node:util';
import { BEGINNING, type Link } from './chain.ts';

/** Changes that somebody else made to the file while it was written. */
export type Interference =
  /** It has no name any more. */
  | 'deleted'
  /** It is elsewhere, or its folder is. */
  | 'renamed'
  /** It has no name any more, and another file has the name that it had. */
  | 'replaced'
  /** It has become shorter. */
  | 'truncated'
  /** It has become longer. */
  | 'appended';

export interface Renewed {
  readonly why: Interference;
  /** Bytes of an unfinished line that were taken off the file that is there. */
  readonly cut: number;
}

export interface AuditOutput {
  /** The link that the chain goes on from. */
  readonly last: Link;
  /** Bytes of an unfinished line that were taken off, as a process leaves one that is killed while it writes. */
  readonly cut: number;
  /** Bytes that are there, and that may be there before `rotate`; an empty file takes one line of any length. */
  size(): number;
  readonly maxBytes: number;
  /** Files that are kept, with the one that is written to. */
  readonly maxFiles: number;
  /** The numbers of the lines with which the files begin, the oldest first. */
  beginnings(): readonly number[];
  /**
   * Looks whether what is written to still is the file at its path, and opens that where it is not.
   * @param unfinished bytes of a line that has not been written to its end
   * @returns what had happened; undefined when nothing had
   */
  renew(unfinished: number): Promise<Renewed | undefined>;
  /** The number of bytes that were written; fewer than given where there was no place. */
  write(bytes: Uint8Array): Promise<number>;
  /** Puts what is there away, and begins with an empty file. May be called again after a failure. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

const writeTo = promisify(write);
const STDERR = 2;

/** Standard error: nothing is known of earlier lines, so each process has a chain of its own. */
export function errorOutput(): AuditOutput {
  return {
    last: BEGINNING,
    cut: 0,
    size: () => 0,
    maxBytes: Number.POSITIVE_INFINITY,
    maxFiles: 1,
    beginnings: () => [],
    renew: async () => undefined,
    // Not `process.stderr`, which waits for a slow reader, and everything else with it.
    write: async (bytes) => (await writeTo(STDERR, bytes)).bytesWritten,
    rotate: async () => {},
    close: async () => {},
  };
}
