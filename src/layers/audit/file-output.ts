/** A file that is rotated by size, and begun anew when somebody else took it away. */
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
  /** With the one that is written to. */
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

/** After a look at the file, none is taken for this long, in milliseconds: under load lines are written every few. */
const LOOK_MS = 50;

/** Written by whoever writes the chain: the file itself goes on. */
const OWN: ReadonlySet<Interference> = new Set(['truncated', 'appended']);

/** @throws ResourceError `invalid` when the file cannot be written, is in use, or does not end as an audit file does */
export function fileOutput({ file, maxBytes, maxFiles }: FileOutputOptions): AuditOutput {
  const lock = explained(file, () => lockFile(file));
  let begun: Opened;
  try {
    begun = explained(file, () => openEnd(file));
  } catch (error) {
    void lock.release();
    throw error;
  }
  let opened: Opened | undefined = begun;
  let { size } = begun;
  let why: Interference | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  // Renaming goes on where it failed: what has been moved is not moved again.
  let toMove: number | undefined;

  async function leave(): Promise<void> {
    const { fd } = opened ?? {};
    opened = undefined;
    if (fd === undefined) return;
    await sync(fd).catch(() => {});
    await closeFile(fd);
  }

  async function interference({ fd, ino, dev, regular }: Opened): Promise<Interference | undefined> {
    const [own, there] = await Promise.all([stateOf(fd), statIfThere(file)]);
    if (there === undefined) return own.nlink === 0n ? 'deleted' : 'renamed';
    if (there.ino !== ino || there.dev !== dev) return own.nlink === 0n ? 'replaced' : 'renamed';
    if (!regular || own.size === BigInt(size)) return undefined;
    return own.size < size ? 'truncated' : 'appended';
  }

  return {
    last: begun.last,
    cut: begun.cut,
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
        if (OWN.has(why)) {
          size = endLine(opened.fd);
          const renewed = { why, cut: 0 };
          why = undefined;
          return renewed;
        }
        // The rest of the line stands in the next file, all of it.
        if (unfinished > 0) await truncate(opened.fd, size - unfinished).catch(() => {});
        await leave();
      }
      const next = openEnd(file);
      opened = next;
      size = next.size;
      // After `rotate` there is nothing, unless somebody put it there.
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
