/**
 * Keeps shared answers in a folder: a file each, whose last change is when it was used last. Any number of processes may use the
 * folder at the same time, and any of them may end at any time.
 */
import { randomUUID } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalid } from '../errors.ts';
import type { AnswerStore } from './shared-answers.ts';

export interface FolderStoreOptions {
  /** Made when it is needed, for this user only. */
  readonly folder: string;
  /** Of all files. Default: 1,073,741,824 */
  readonly maxBytes?: number | undefined;
  /** Writes a new file. Default: on the disk */
  readonly writeNew?: ((file: string, bytes: Uint8Array) => Promise<void>) | undefined;
}

const DEFAULT_FOLDER_BYTES = 1024 ** 3;

/** Files of a folder, whatever their size. */
const MAX_FILES = 20_000;

/** A file counts as so many bytes at least, as disks do. */
const BLOCK_BYTES = 4_096;

/** One answer may take this part of all bytes. */
const LARGEST = 1 / 16;

/** The folder is looked over when this part of it was written since the last time. */
const LOOK_AGAIN = 1 / 64;

/** If there is too much, files go that were used longest ago, until this part is left. */
const LEFT = 3 / 4;

/** A file that somebody began to write so long ago was left by a process that ended, in milliseconds. */
const DRAFT_MS = 10 * 60_000;

/** Attempts to take a lease that nobody renews any more. */
const MAX_TRIES = 2;

const SUFFIX = '.answer';
const ANSWER = /^[0-9a-f]{64}\.answer$/;
const DRAFT = /^[0-9a-f-]{36}\.draft$/;
const LEASE = /^[0-9a-f]{64}\.lease$/;

/** A link is never followed, and nothing that is no file is waited for. Windows has neither. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const NOT_A_FOLDER = 'a link, or no folder';

interface Found {
  readonly file: string;
  readonly bytes: number;
  readonly at: number;
}

/** @throws ResourceError `invalid` for a link, or something else that is no folder */
export function folderStore(options: FolderStoreOptions): AnswerStore {
  const { folder, maxBytes = DEFAULT_FOLDER_BYTES, writeNew = writeNewFile } = options;
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw invalid(`The folder of shared answers is ${NOT_A_FOLDER}: ${folder}; name one that is Vitrine's alone`);
  const fileOf = (name: string): string => join(folder, name + SUFFIX);
  const leaseOf = (name: string): string => join(folder, `${name}.lease`);
  /** Since the folder was looked over; undefined before the first time. */
  let written: { bytes: number; files: number } | undefined;
  // Files are written one after the other: each knows what the one before it took.
  let work: Promise<void> = Promise.resolve();

  /** Somebody may have put something else in its place. */
  async function assertFolder(): Promise<void> {
    if (!(await lstat(folder)).isDirectory()) throw new Error(`The folder of shared answers is ${NOT_A_FOLDER} now`);
  }

  async function makeFolder(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await assertFolder();
  }

  async function makeRoom(bytes: number): Promise<void> {
    const isKnown =
      written !== undefined &&
      written.bytes + bytes <= maxBytes * LOOK_AGAIN &&
      written.files < Math.ceil(MAX_FILES * LOOK_AGAIN);
    if (!isKnown) await lookOver(bytes);
    written = { bytes: (written?.bytes ?? 0) + bytes, files: (written?.files ?? 0) + 1 };
  }

  /** Removes what was used longest ago, where there is too much. Other processes may do the same meanwhile. */
  async function lookOver(bytes: number): Promise<void> {
    const all = await filesIn(folder);
    let sum = bytes + all.reduce((total, each) => total + each.bytes, 0);
    let count = 1 + all.length;
    if (sum > maxBytes * (1 - LOOK_AGAIN) || count > MAX_FILES * (1 - LOOK_AGAIN)) {
      for (const each of all.sort((a, b) => a.at - b.at)) {
        if (sum <= maxBytes * LEFT && count <= MAX_FILES * LEFT) break;
        await rm(each.file, { force: true });
        sum -= each.bytes;
        count--;
      }
    }
    written = { bytes: 0, files: 0 };
  }

  async function write(name: string, sealed: Uint8Array): Promise<void> {
    await makeFolder();
    await makeRoom(Math.max(BLOCK_BYTES, sealed.byteLength));
    const draft = join(folder, `${randomUUID()}.draft`);
    try {
      await writeNew(draft, sealed);
      await rename(draft, fileOf(name));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  return {
    maxAnswerBytes: Math.floor(maxBytes * LARGEST),
    async read(name) {
      try {
        await assertFolder();
        await using file = await open(fileOf(name), READ_FLAGS);
        const stats = await file.stat();
        if (!stats.isFile() || stats.size > maxBytes * LARGEST) {
          await removed(fileOf(name));
          return undefined;
        }
        const bytes = await file.readFile();
        const now = new Date();
        // A file of another user, or on a disk that is read only, is found all the same.
        await file.utimes(now, now).catch(() => {});
        return bytes;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ELOOP') await removed(fileOf(name));
        if (code === 'ENOENT' || code === 'ELOOP') return undefined;
        throw error;
      }
    },
    write(name, sealed) {
      const done = work.then(() => write(name, sealed));
      work = done.catch(() => {});
      return done;
    },
    remove: (name) => removed(fileOf(name)),
    async lease(name, holder, ttlMs) {
      await makeFolder();
      const file = leaseOf(name);
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const isNew = await writeNewFile(file, Buffer.from(holder)).then(
          () => true,
          (error: NodeJS.ErrnoException) => {
            if (error.code !== 'EEXIST') throw error;
            return false;
          },
        );
        if (isNew) return true;
        if (await isHeldBy(file, holder)) {
          const now = new Date();
          await utimes(file, now, now);
          return true;
        }
        const age = await lstat(file).then(
          ({ mtimeMs }) => Date.now() - mtimeMs,
          () => 0,
        );
        if (age < ttlMs) return false;
        // Whoever had it has ended. Two that see this at once may both get it.
        await removed(file);
      }
      return false;
    },
    async release(name, holder) {
      if (await isHeldBy(leaseOf(name), holder)) await removed(leaseOf(name));
    },
  };
}

const isHeldBy = async (file: string, holder: string): Promise<boolean> =>
  (await readFile(file, 'utf8').catch(() => undefined)) === holder;

const writeNewFile = (file: string, bytes: Uint8Array): Promise<void> =>
  writeFile(file, bytes, { flag: 'wx', mode: 0o600 });

/** A folder in its place stays: nothing is kept under this name then. */
const removed = (file: string): Promise<void> => rm(file, { force: true }).catch(() => {});

/** The answers in a folder. Removes what processes left behind that ended while they wrote. */
async function filesIn(folder: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of await readdir(folder)) {
    const isDraft = DRAFT.test(name) || LEASE.test(name);
    if (!isDraft && !ANSWER.test(name)) continue;
    const file = join(folder, name);
    const stats = await lstat(file).catch(() => undefined);
    if (stats === undefined || stats.isDirectory()) continue;
    if (isDraft && Date.now() - stats.mtimeMs > DRAFT_MS) await rm(file, { force: true });
    else found.push({ file, bytes: Math.max(BLOCK_BYTES, stats.size), at: isDraft ? Date.now() : stats.mtimeMs });
  }
  return found;
}
