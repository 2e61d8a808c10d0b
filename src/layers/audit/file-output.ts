/** Writes to a file that is rotated by size. If another program takes the file away, a new one is begun. */
import { type BigIntStats, close, fstat, fsync, ftruncate, write } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { invalid } from '../../core/errors.ts';
import { lockFile } from './lock.ts';
import type { AuditOutput, Interference } from './output.ts';
import { beginningsOf, endLine, type Opened, older, openEnd } from './tail.ts';

export interface FileOutputOptions {
  readonly file: string;
  readonly maxBytes: number;
  /** The most files that are kept, including the current one. */
  readonly maxFiles: number;
}

const writeTo = promisify(write);
const sync = promisify(fsync);
const truncate = promisify(ftruncate);
const closeFile = promisify(close);
const stateOf = (fd: number): Promise<BigIntStats> =>
  new Promise((resolve, reject) => {
    fstat(fd, { bigint: true }, (error, stats) => (error === null ? resolve(stats) : reject(error)));
  });

/** The file is checked at most once in this many milliseconds, since under load lines are written more often. */
const LOOK_MS = 50;

/** After these kinds of interference, lines are still written to the same file. */
const SAME_FILE: ReadonlySet<Interference> = new Set(['truncated', 'appended']);

/** @throws ResourceError `invalid` when the file cannot be written, is in use, or does not end as an audit file does */
export function fileOutput({ file, maxBytes, maxFiles }: FileOutputOptions): AuditOutput {
  const lock = explained(file, () => lockFile(file));
  let initial: Opened;
  try {
    initial = explained(file, () => openEnd(file));
  } catch (error) {
    void lock.release();
    throw error;
  }
  let opened: Opened | undefined = initial;
  let { size } = initial;
  let why: Interference | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  // The index of the file that could not be renamed: the next try goes on with it, so that no file is moved twice.
  let toMove: number | undefined;

  async function leave(): Promise<void> {
    const { fd } = opened ?? {};
    opened = undefined;
    if (fd === undefined) return;
    await sync(fd).catch(() => {});
    await closeFile(fd);
  }

  async function interference({ fd, ino, dev, regular }: Opened): Promise<Interference | undefined> {
    const [held, atPath] = await Promise.all([stateOf(fd), statIfThere(file)]);
    if (atPath === undefined) return held.nlink === 0n ? 'deleted' : 'renamed';
    if (atPath.ino !== ino || atPath.dev !== dev) return held.nlink === 0n ? 'replaced' : 'renamed';
    if (!regular || held.size === BigInt(size)) return undefined;
    return held.size < size ? 'truncated' : 'appended';
  }

  return {
    last: initial.last,
    cut: initial.cut,
    size: () => size,
    maxBytes,
    maxFiles,
    beginnings: () => beginningsOf(file, maxFiles),
    async renew(unfinished) {
      const now = performance.now();
      if (opened !== undefined && why === undefined && now - lookedAt < LOOK_MS) return undefined;
      await lock.keep();
      lookedAt = now;
      if (opened !== undefined) {
        why ??= await interference(opened);
        if (why === undefined) return undefined;
        if (SAME_FILE.has(why)) {
          size = endLine(opened.fd);
          const renewed = { why, cut: 0 };
          why = undefined;
          return renewed;
        }
        // The unfinished line is removed here, because the next file gets all of it.
        if (unfinished > 0) await truncate(opened.fd, size - unfinished).catch(() => {});
        await leave();
      }
      const next = openEnd(file);
      opened = next;
      size = next.size;
      // After `rotate` the file is empty, unless another program has put one there.
      if (size > 0) why ??= 'replaced';
      const renewed = why && { why, cut: next.cut };
      why = undefined;
      return renewed;
    },
    async write(bytes) {
      if (opened === undefined) throw new Error('the file has to be opened before');
      const { bytesWritten } = await writeTo(opened.fd, bytes);
      size += bytesWritten;
      return bytesWritten;
    },
    async rotate() {
      await leave();
      if (toMove === undefined) await rm(older(file, maxFiles - 1), { force: true });
      toMove ??= maxFiles - 2;
      for (; toMove >= 0; toMove--) await renameIfThere(older(file, toMove), older(file, toMove + 1));
      toMove = undefined;
      size = 0;
    },
    async close() {
      try {
        await leave();
      } finally {
        await lock.release();
      }
    },
  };
}

async function renameIfThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

async function statIfThere(file: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    if (GONE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** Runs a function whose errors of the file system become a message for a user. @throws ResourceError `invalid` */
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
