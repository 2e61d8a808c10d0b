/**
 * Makes the calls to the file system. On Linux, short calls to a file system that lies on this machine (`LOCAL`) are made
 * synchronously: it answers in microseconds, several times faster than a thread of the pool wakes up. Long reads, all other file
 * systems and all other operating systems go through the thread pool, because they may be slow to answer.
 * (`docs/decisions/0013-asking-the-disk.md`)
 */
import {
  type BigIntStats,
  type Dirent,
  fstat,
  fstatSync,
  lstat,
  lstatSync,
  open,
  opendirSync,
  openSync,
  read,
  readSync,
  statfsSync,
} from 'node:fs';
import { opendir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { breaks } from '../../core/breaks.ts';

type Soon<T> = T | Promise<T>;

export interface Disk {
  open(path: string, flags: number): Soon<number>;
  fstat(descriptor: number): Soon<BigIntStats>;
  lstat(path: string): Soon<BigIntStats>;
  /** The entries of a directory in batches; other work has its turn between them. */
  entries(path: string): AsyncIterable<readonly Dirent[]>;
  /**
   * Makes one read, and returns how many bytes it gave: 0 only at the end of the file, and perhaps fewer than `length` before it.
   */
  read(descriptor: number, buffer: Buffer, offset: number, length: number, position: number): Soon<number>;
}

const openSoon = promisify(open);
const fstatSoon = promisify(fstat);
const lstatSoon = promisify(lstat);

function readSoon(
  descriptor: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, offset, length, position, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  });
}

/** Entries of a directory that are read in one batch. */
const ENTRIES_AT_ONCE = 512;

async function* entriesSoon(path: string): AsyncIterable<readonly Dirent[]> {
  let batch: Dirent[] = [];
  for await (const entry of await opendir(path, { bufferSize: ENTRIES_AT_ONCE })) {
    batch.push(entry);
    if (batch.length < ENTRIES_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

async function* entriesNow(path: string): AsyncIterable<readonly Dirent[]> {
  const directory = opendirSync(path, { bufferSize: ENTRIES_AT_ONCE });
  const takeBreak = breaks();
  try {
    for (let ended = false; !ended; ) {
      const batch: Dirent[] = [];
      while (!ended && batch.length < ENTRIES_AT_ONCE) {
        const entry = directory.readSync();
        if (entry === null) ended = true;
        else batch.push(entry);
      }
      yield batch;
      await takeBreak();
    }
  } finally {
    directory.closeSync();
  }
}

/** Makes all calls through the thread pool, so that only the caller waits for them. */
export const POOLED: Disk = {
  open: openSoon,
  fstat: (descriptor) => fstatSoon(descriptor, { bigint: true }),
  lstat: (path) => lstatSoon(path, { bigint: true }),
  entries: entriesSoon,
  read: readSoon,
};

/** The most bytes that are read synchronously; a longer read goes through the pool. */
const DIRECT_READ_BYTES = 64 * 1024;

/** Makes short calls synchronously. */
export const DIRECT: Disk = {
  open: (path, flags) => openSync(path, flags),
  fstat: (descriptor) => fstatSync(descriptor, { bigint: true }),
  lstat: (path) => lstatSync(path, { bigint: true }),
  entries: entriesNow,
  read: (descriptor, buffer, offset, length, position) =>
    length > DIRECT_READ_BYTES
      ? readSoon(descriptor, buffer, offset, length, position)
      : readSync(descriptor, buffer, offset, length, position),
};

/** Types, as `statfs` gives them on Linux, of file systems that lie on a disk or in the memory of this machine. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlay
  0x73717368, // squashfs
]);

/** Returns the way to call the file system that a canonical path lies on. */
export function diskOf(path: string): Disk {
  if (process.platform !== 'linux') return POOLED;
  try {
    return LOCAL.has(Number(statfsSync(path).type) >>> 0) ? DIRECT : POOLED;
  } catch {
    return POOLED;
  }
}
