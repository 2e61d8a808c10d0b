/** Where audit lines go: a file that is rotated by size, or standard error. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, write } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { invalid } from '../../core/errors.ts';
import { BEGINNING, type Link, MAX_LINE_BYTES, readLine } from './chain.ts';
import { lockFile } from './lock.ts';

export interface AuditOutput {
  /** Where the chain goes on. */
  readonly last: Link;
  /** Bytes of an unfinished line that were taken off, as a process leaves one that is killed while it writes. */
  readonly cut: number;
  /** Bytes that are there, and that may be there before `rotate`; an empty file takes one line of any length. */
  size(): number;
  readonly maxBytes: number;
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
    // Not `process.stderr`, which waits for a slow reader, and everything else with it.
    write: async (bytes) => (await writeTo(STDERR, bytes)).bytesWritten,
    rotate: async () => {},
    close: async () => {},
  };
}

export interface FileOutputOptions {
  readonly file: string;
  readonly maxBytes: number;
  /** With the one that is written to. */
  readonly maxFiles: number;
}

const FLAGS = constants.O_CREAT | constants.O_RDWR | constants.O_APPEND;

/** @throws ResourceError `invalid` when the file cannot be written, is in use, or does not end as an audit file does */
export function fileOutput({ file, maxBytes, maxFiles }: FileOutputOptions): AuditOutput {
  const lock = explained(file, () => lockFile(file));
  try {
    const begun = explained(file, () => begin(file));
    let { size } = begun;
    let handle: FileHandle | undefined;
    const opened = async (): Promise<FileHandle> => (handle ??= await open(file, FLAGS, 0o600));
    const ended = async (): Promise<void> => {
      const ending = handle;
      handle = undefined;
      await ending?.sync().catch(() => {});
      await ending?.close();
    };
    // Renaming goes on where it failed: what has been moved is not moved again.
    let toMove: number | undefined;
    return {
      last: begun.last,
      cut: begun.cut,
      size: () => size,
      maxBytes,
      async write(bytes) {
        const { bytesWritten } = await (await opened()).write(bytes);
        size += bytesWritten;
        return bytesWritten;
      },
      async rotate() {
        await ended();
        if (toMove === undefined) await rm(older(file, maxFiles - 1), { force: true });
        toMove ??= maxFiles - 2;
        for (; toMove >= 0; toMove--) await renameIfThere(older(file, toMove), older(file, toMove + 1));
        toMove = undefined;
        size = 0;
      },
      async close() {
        try {
          await ended();
        } finally {
          lock.release();
        }
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The name of a file that was put away; 1 is the latest of them, and 0 the one that is written to. */
export const older = (file: string, index: number): string => (index === 0 ? file : `${file}.${index}`);

async function renameIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

interface Begun {
  readonly last: Link;
  readonly cut: number;
  readonly size: number;
}

/** Opens the file once, to see that it can be written and where it ends, and takes an unfinished line off. */
function begin(file: string): Begun {
  const descriptor = openSync(file, FLAGS, 0o600);
  try {
    const { size } = fstatSync(descriptor);
    const tail = tailOf(descriptor, size);
    const whole = tail.lastIndexOf(0x0a) + 1;
    const cut = tail.length - whole;
    if (whole === 0 && size > tail.length) throw notAnAuditFile(file);
    const last = lastLink(tail.subarray(0, whole), file) ?? linkOfOlder(file);
    if (cut > 0) ftruncateSync(descriptor, size - cut);
    return { last, cut, size: size - cut };
  } finally {
    closeSync(descriptor);
  }
}

/** The file before ends where the chain goes on when this one has no line yet, as after a kill between the two. */
function linkOfOlder(file: string): Link {
  let descriptor: number;
  try {
    descriptor = openSync(older(file, 1), constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return BEGINNING;
    throw error;
  }
  try {
    const link = lastLink(tailOf(descriptor, fstatSync(descriptor).size), older(file, 1));
    if (link === undefined) throw notAnAuditFile(older(file, 1));
    return link;
  } finally {
    closeSync(descriptor);
  }
}

function tailOf(descriptor: number, size: number): Buffer {
  const buffer = Buffer.alloc(Math.min(size, MAX_LINE_BYTES * 2));
  const bytes = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
  return buffer.subarray(0, bytes);
}

/** Where the last of some whole lines is in the chain. */
function lastLink(lines: Buffer, file: string): Link | undefined {
  if (lines.length === 0) return undefined;
  const from = lines.lastIndexOf(0x0a, lines.length - 2) + 1;
  const read = readLine(lines.toString('utf8', from, lines.length - 1));
  if (read === undefined || !read.intact) throw notAnAuditFile(file);
  return read.link;
}

const notAnAuditFile = (file: string): Error =>
  invalid(
    `${file} does not end with a line of an audit, or that line was changed; look at it with vitrine audit verify, and ` +
      'move it away to begin a new one',
  );

function explained<T>(file: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Error && 'syscall' in error)
      throw invalid(`The audit file ${file} cannot be written: ${code}`);
    throw error;
  }
}
