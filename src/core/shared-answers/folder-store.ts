/**
 * Keeps shared answers in a folder, one file for each. The modification time of a file is the time of its last use. Any number of
 * processes may use the folder at the same time, and any of them may end at any time.
 */
import { randomUUID } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalid } from '../errors.ts';
import type { AnswerStore } from './shared-answers.ts';

export interface FolderStoreOptions {
  /** The folder. It is made when it is needed, and only this user has access to it. */
  readonly folder: string;
  /** The most bytes of all files together. Default: 1,073,741,824 */
  readonly maxBytes?: number | undefined;
  /** Writes a new file. Default: to the disk. */
  readonly writeNew?: ((file: string, bytes: Uint8Array) => Promise<void>) | undefined;
}

const DEFAULT_FOLDER_BYTES = 1024 ** 3;

/** The most files of a folder. */
const MAX_FILES = 20_000;

/** A smaller file counts as so many bytes, because it takes a whole block of the disk. */
const BLOCK_BYTES = 4_096;

/** The largest answer, as a share of all bytes. */
const LARGEST = 1 / 16;

/** Once this share of the limit has been written, the folder is checked again. */
const CHECK_AFTER = 1 / 64;

/** If the folder is too full, the files that were used longest ago are removed, until this share of the limit is left. */
const LEFT = 3 / 4;

/** A draft or a lease that is so many milliseconds old was left by a process that ended. */
const DRAFT_MS = 10 * 60_000;

/** The most attempts to take a lease, if the first finds one that its holder no longer renews. */
const MAX_TRIES = 2;

const SUFFIX = '.answer';
const ANSWER = /^[0-9a-f]{64}\.answer$/;
const DRAFT = /^[0-9a-f-]{36}\.draft$/;
const LEASE = /^[0-9a-f]{64}\.lease$/;

/** Links are not followed, and opening a FIFO does not wait for a writer. Windows has neither flag. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const NOT_A_FOLDER = 'a link, or no folder';

interface Found {
  readonly file: string;
  readonly bytes: number;
  /** The time of its last use, in milliseconds since 1970. */
  readonly usedAt: number;
}

/** Keeps shared answers in a folder. @throws ResourceError `invalid` if the path is a link or anything else that is no folder */
export function folderStore(options: FolderStoreOptions): AnswerStore {
  const { folder, maxBytes = DEFAULT_FOLDER_BYTES, writeNew = writeNewFile } = options;
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    throw invalid(`The folder of shared answers is ${NOT_A_FOLDER}: ${folder}; name one that is Vitrine's alone`);
  const fileOf = (name: string): string => join(folder, name + SUFFIX);
  const leaseOf = (name: string): string => join(folder, `${name}.lease`);
  /** Bytes and files written since the folder was last checked; undefined before the first check. */
  let written: { bytes: number; files: number } | undefined;
  // Files are written one after the other, so that each write takes the size of the one before it into account.
  let work: Promise<void> = Promise.resolve();

  /** Checks the folder each time, because somebody may have put something else in its place. */
  async function assertFolder(): Promise<void> {
    if (!(await lstat(folder)).isDirectory()) throw new Error(`The folder of shared answers is ${NOT_A_FOLDER} now`);
  }

  async function makeFolder(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await assertFolder();
  }

  async function makeRoom(bytes: number): Promise<void> {
    const isRecent =
      written !== undefined &&
      written.bytes + bytes <= maxBytes * CHECK_AFTER &&
      written.files < Math.ceil(MAX_FILES * CHECK_AFTER);
    if (!isRecent) await removeOldest(bytes);
    written = { bytes: (written?.bytes ?? 0) + bytes, files: (written?.files ?? 0) + 1 };
  }

  /** If the folder is too full, removes the files that were used longest ago. Other processes may do the same meanwhile. */
  async function removeOldest(bytes: number): Promise<void> {
    const all = await filesIn(folder);
    let sum = bytes + all.reduce((total, each) => total + each.bytes, 0);
    let count = 1 + all.length;
    if (sum > maxBytes * (1 - CHECK_AFTER) || count > MAX_FILES * (1 - CHECK_AFTER)) {
      for (const each of all.sort((a, b) => a.usedAt - b.usedAt)) {
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
        // This fails for a file of another user and on a read-only disk. The answer is used all the same.
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
        // Its holder has ended. If two processes notice this at the same time, both may get the lease.
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

/** Removes a file. A folder of this name stays, and then no answer can be kept under the name. */
const removed = (file: string): Promise<void> => rm(file, { force: true }).catch(() => {});

/** Returns the files in a folder. Removes the drafts and leases that were left by processes that ended. */
async function filesIn(folder: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of await readdir(folder)) {
    const isDraft = DRAFT.test(name) || LEASE.test(name);
    if (!isDraft && !ANSWER.test(name)) continue;
    const file = join(folder, name);
    const stats = await lstat(file).catch(() => undefined);
    if (stats === undefined || stats.isDirectory()) continue;
    if (isDraft && Date.now() - stats.mtimeMs > DRAFT_MS) await rm(file, { force: true });
    else found.push({ file, bytes: Math.max(BLOCK_BYTES, stats.size), usedAt: isDraft ? Date.now() : stats.mtimeMs });
  }
  return found;
}
