/** Writes files in one folder only: follows no links, moves complete files into place, replaces only what it may replace. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ResourceClientError } from '../../errors.ts';
import { MANIFEST } from './manifest.ts';
import { OWN_FOLDER } from './names.ts';

/** A folder that is read. */
export interface Files {
  /** Its real path. */
  readonly folder: string;
  /** Checks a path, without following links. @returns size and time of the file there, or `none`, or `other` for anything else */
  at(path: readonly string[]): Promise<{ readonly size: number; readonly mtimeMs: number } | 'none' | 'other'>;
  /** SHA-256 of a file, in hexadecimal digits. */
  hashOf(path: readonly string[]): Promise<string>;
}

/** A folder that is written to. */
export interface Disk extends Files, AsyncDisposable {
  /** Begins a file under a temporary name. */
  draft(): Promise<Draft>;
}

export interface Draft {
  write(bytes: Uint8Array): Promise<void>;
  /** Moves the file to a path. @throws ResourceClientError `invalid` if something is in the way. @returns its mtime */
  commit(path: readonly string[], replace: boolean): Promise<number>;
  discard(): Promise<void>;
}

const LOCK = 'lock';

/**
 * Makes a folder with its parents, one at a time: where a file system refuses a new folder with ENOENT, as /proc does, Node.js does
 * not end with `recursive`.
 * @throws ResourceClientError `invalid` if it cannot be made
 */
async function makeTarget(path: string): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeTarget(dirname(path));
  try {
    await mkdir(path);
  } catch (cause) {
    // Another process may have made it.
    if (await isFolder(path)) return;
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'a file is in the way' : `the file system refuses it (${code})`;
    throw new ResourceClientError('invalid', `The folder ${path} cannot be made: ${why}`, { cause });
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Opens a folder, and creates it if it is missing.
 * @param force accepts a folder that is not empty
 * @throws ResourceClientError `invalid` for a folder that is not empty and was not filled by `get`, for one in use, and for one that
 *   cannot be made
 */
export async function openDisk(target: string, force: boolean): Promise<Disk> {
  await makeTarget(resolve(target));
  const folder = await realpath(target);
  await check(folder, force);
  const own = join(folder, OWN_FOLDER);
  await makeFolder(own);
  await lock(own);
  const parts = (await readdir(own)).filter((name) => name.startsWith('part-') || name === `${MANIFEST}.new`);
  for (const name of parts) await rm(join(own, name), { force: true });

  async function enter(path: readonly string[]): Promise<string> {
    let at = folder;
    for (const name of path) {
      at = join(at, name);
      await makeFolder(at);
    }
    return at;
  }

  return {
    ...filesIn(folder),
    async draft() {
      const part = join(own, `part-${randomUUID()}`);
      // Fails if the file exists, so it never writes through a link.
      const file = await open(part, 'wx', 0o666);
      return draftOf(file, part, enter);
    },
    [Symbol.asyncDispose]: () => rm(join(own, LOCK), { force: true }),
  };
}

/**
 * Reads a folder, which may be missing, and changes nothing.
 * @throws ResourceClientError `invalid` as `openDisk` does, except for a folder in use
 */
export async function lookAtDisk(target: string, force: boolean): Promise<Files> {
  const folder = await realpath(target).catch((error: NodeJS.ErrnoException) => missing(error) ?? resolve(target));
  await check(folder, force);
  return filesIn(folder);
}

async function check(folder: string, force: boolean): Promise<void> {
  const names = (await readdir(folder).catch((error: NodeJS.ErrnoException) => missing(error))) ?? [];
  if (names.includes(OWN_FOLDER) || names.length === 0 || force) return;
  throw new ResourceClientError('invalid', 'The folder is not empty, and get has not filled it');
}

const filesIn = (folder: string): Files => ({
  folder,
  async at(path) {
    let at = folder;
    for (const [index, name] of path.entries()) {
      at = join(at, name);
      const found = await lstat(at).catch(missing);
      if (found === undefined) return 'none';
      const last = index === path.length - 1;
      if (last) return found.isFile() ? { size: found.size, mtimeMs: found.mtimeMs } : 'other';
      if (!found.isDirectory()) return 'other';
    }
    return 'other';
  },
  async hashOf(path) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(join(folder, ...path))) hash.update(chunk as Buffer);
    return hash.digest('hex');
  },
});

function draftOf(file: FileHandle, part: string, enter: (path: readonly string[]) => Promise<string>): Draft {
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await file.close();
    closed = true;
  };
  return {
    write: async (bytes) => {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
    },
    async commit(path, replace) {
      const { mtimeMs } = await file.stat();
      await close();
      const end = join(await enter(path.slice(0, -1)), path.at(-1) ?? '_');
      if (replace) await replaceFile(part, end);
      else await placeFile(part, end);
      return mtimeMs;
    },
    async discard() {
      await close();
      await rm(part, { force: true });
    },
  };
}

/** Moves a file to a free name: unlike a rename, a hard link fails if the name is taken. */
async function placeFile(part: string, end: string): Promise<void> {
  try {
    await link(part, end);
    await rm(part);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw inTheWay();
    if (code === undefined || !NO_LINKS.has(code)) throw error;
    if ((await lstat(end).catch(missing)) !== undefined) throw inTheWay();
    await rename(part, end);
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** A rename replaces a symbolic link, and does not follow it. */
async function replaceFile(part: string, end: string): Promise<void> {
  const found = await lstat(end).catch(missing);
  if (found?.isDirectory() === true) throw inTheWay();
  await rename(part, end);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!(await lstat(path)).isDirectory()) {
      throw new ResourceClientError('invalid', 'A file is in the place of a folder');
    }
  }
}

/** Allows one run at a time. The lock of a process that has ended does not count. */
async function lock(own: string): Promise<void> {
  const path = join(own, LOCK);
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const holder = Number(await readFile(path, 'utf8').catch(() => ''));
  if (holder !== process.pid && isAlive(holder)) {
    throw new ResourceClientError('invalid', `Another run is writing to the folder (process ${holder})`);
  }
  if (holder === process.pid) throw new ResourceClientError('invalid', 'This process is writing to the folder already');
  await rm(path, { force: true });
  await writeFile(path, String(process.pid), { flag: 'wx' });
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

const inTheWay = (): ResourceClientError =>
  new ResourceClientError('invalid', 'A file or folder that get has not written is in the way');
