import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SILENT } from '../context.ts';
import { folderStore } from './folder-store.ts';
import { openAnswers } from './open.ts';
import { sealedAnswers } from './sealed-answers.ts';
import type { AnswerStore } from './shared-answers.ts';

const KEYS = [new Uint8Array(32).fill(1)];
const KIB = 1024;
const MIB = 1024 * KIB;
const nameOf = (number: number): string => number.toString(16).padStart(64, '0');
const bytesOf = (length: number): Uint8Array => new Uint8Array(length).fill(7);

let base = '';
let folder = '';

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'vitrine-answers-'));
  folder = join(base, 'cache', 'answers');
});

afterEach(() => rm(base, { recursive: true, force: true }));

async function sizeOf(): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, each) => sum + each, 0);
}

/** Writes a file for each number. A file with a higher number counts as used later. */
async function age(store: AnswerStore, numbers: readonly number[]): Promise<void> {
  for (const each of numbers) {
    await store.write(nameOf(each), bytesOf(64 * KIB));
    const at = new Date(Date.now() - 3_600_000 + each * 1_000);
    await utimes(join(folder, `${nameOf(each)}.answer`), at, at);
  }
}

describe('a folder of shared answers', () => {
  it('is made when it is needed, for this user only', async () => {
    const store = folderStore({ folder });
    expect(await store.read(nameOf(1))).toBeUndefined();
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
    await store.write(nameOf(1), bytesOf(10));
    expect(Buffer.from((await store.read(nameOf(1))) ?? [])).toEqual(Buffer.from(bytesOf(10)));
    expect(await readdir(folder)).toEqual([`${nameOf(1)}.answer`]);
    if (process.platform === 'win32') return;
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, `${nameOf(1)}.answer`))).mode & 0o777).toBe(0o600);
  });

  it('never exceeds its limit, and removes the answers that were used longest ago', async () => {
    const store = folderStore({ folder, maxBytes: MIB });
    await age(
      store,
      Array.from({ length: 14 }, (_, number) => number),
    );
    expect(await store.read(nameOf(0))).toBeDefined();
    await store.write(nameOf(90), bytesOf(64 * KIB));
    await store.write(nameOf(91), bytesOf(64 * KIB));
    expect(await sizeOf()).toBeLessThanOrEqual(0.75 * MIB);
    // The first was used just now.
    const left = (await readdir(folder)).map((name) => Number.parseInt(name, 16)).sort((a, b) => a - b);
    expect(left.slice(0, 2)).toEqual([0, 5]);
    for (let number = 100; number < 200; number++) {
      await store.write(nameOf(number), bytesOf((number % 7) * 9 * KIB));
      expect(await sizeOf()).toBeLessThanOrEqual(MIB);
    }
  });

  it('counts small files with the space that they take on a disk', async () => {
    const store = folderStore({ folder, maxBytes: MIB });
    for (let number = 0; number < 600; number++) await store.write(nameOf(number), bytesOf(1));
    expect((await readdir(folder)).length).toBeLessThanOrEqual(256);
  });

  it('is used by several processes at once: each file is whole, and the limit holds in the end', async () => {
    const stores = Array.from({ length: 4 }, () => folderStore({ folder, maxBytes: MIB }));
    const shared = stores.map((store) => sealedAnswers({ store, keys: KEYS, log: SILENT }));
    await Promise.all(
      shared.map(async (answers, writer) => {
        for (let round = 0; round < 50; round++) {
          const key = [`${round % 20}`];
          const answer = crypto.getRandomValues(new Uint8Array(30 * KIB));
          answer[0] = round % 20;
          answers.put(key, answer);
          await answers.close();
          const found = await shared[(writer + 1) % 4]?.get(key, MIB);
          if (found !== undefined) expect([found[0], found.byteLength]).toEqual([round % 20, 30 * KIB]);
          expect(answers.state()).toMatchObject({ damaged: 0, whole: true });
        }
      }),
    );
    expect(await sizeOf()).toBeLessThanOrEqual(MIB);
    expect((await readdir(folder)).every((name) => name.endsWith('.answer'))).toBe(true);
  });

  it('removes a damaged or truncated file and a link, ignores a folder with the name of a file, and goes on', async () => {
    const answers = openAnswers({ folder }, undefined, KEYS);
    const key = ['a'];
    const kept = async (): Promise<string> => {
      answers.put(key, Buffer.from('kept again'));
      await answers.close();
      return join(folder, (await readdir(folder))[0] ?? '');
    };
    const secret = join(base, 'secret');
    await writeFile(secret, 'not for anybody');
    const spoil: readonly ((file: string) => Promise<unknown>)[] = [
      (file) => truncate(file, 20),
      (file) => truncate(file, 0),
      (file) => writeFile(file, 'something else that is longer than a seal'),
      (file) => rm(file).then(() => symlink(secret, file)),
    ];
    for (const each of spoil) {
      await each(await kept());
      expect(await answers.get(key, MIB)).toBeUndefined();
      expect(await readdir(folder)).toEqual([]);
    }
    expect(await readFile(secret, 'utf8')).toBe('not for anybody');
    const file = await kept();
    await rm(file);
    await mkdir(file);
    expect(await answers.get(key, MIB)).toBeUndefined();
    expect(answers.state()).toMatchObject({ missing: 5, whole: true });
  });

  it('removes drafts of processes that ended while they wrote, and no other files', async () => {
    await mkdir(folder, { recursive: true });
    const drafts = [crypto.randomUUID(), crypto.randomUUID()].map((each) => join(folder, `${each}.draft`));
    for (const each of [...drafts, join(folder, 'notes.txt')]) await writeFile(each, 'half of it');
    const old = new Date(Date.now() - 3_600_000);
    for (const each of [drafts[0] ?? '', join(folder, 'notes.txt')]) await utimes(each, old, old);
    await folderStore({ folder, maxBytes: MIB }).write(nameOf(1), bytesOf(10));
    const left = (await readdir(folder)).map((name) => join(folder, name)).sort();
    expect(left).toEqual([join(folder, `${nameOf(1)}.answer`), drafts[1], join(folder, 'notes.txt')].sort());
  });

  it('gives the lease of an answer to one process at a time, and to another one once that has ended', async () => {
    const stores = Array.from({ length: 4 }, () => folderStore({ folder }));
    const taken = await Promise.all(stores.map((store, at) => store.lease?.(nameOf(1), `process ${at}`, 60_000)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const holder = taken.indexOf(true);
    const lease = (at: number) => stores[at]?.lease?.(nameOf(1), `process ${at}`, 60_000);
    const other = (holder + 1) % 4;
    expect([await lease(holder), await lease(other)]).toEqual([true, false]);
    await stores[other]?.release?.(nameOf(1), `process ${other}`);
    expect(await lease(other)).toBe(false);
    const long = new Date(Date.now() - 61_000);
    await utimes(join(folder, `${nameOf(1)}.lease`), long, long);
    expect([await lease(other), await lease(holder)]).toEqual([true, false]);
    await stores[other]?.release?.(nameOf(1), `process ${other}`);
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves no draft behind on a full disk, and keeps its answers', async () => {
    let full = false;
    const store = folderStore({
      folder,
      async writeNew(file, bytes) {
        await writeFile(file, full ? bytes.subarray(0, 3) : bytes);
        if (full) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      },
    });
    await store.write(nameOf(1), bytesOf(10));
    full = true;
    for (const number of [1, 2]) await expect(store.write(nameOf(number), bytesOf(20))).rejects.toThrow('no space');
    expect(await readdir(folder)).toEqual([`${nameOf(1)}.answer`]);
    expect((await store.read(nameOf(1)))?.byteLength).toBe(10);
    full = false;
    await store.write(nameOf(2), bytesOf(20));
    expect((await store.read(nameOf(2)))?.byteLength).toBe(20);
  });

  it('is refused if it is a link or a file, and not used once it has become a link', async () => {
    const elsewhere = join(base, 'elsewhere');
    await mkdir(elsewhere);
    const link = join(base, 'link');
    await symlink(elsewhere, link);
    expect(() => folderStore({ folder: link })).toThrow('The folder of shared answers is a link, or no folder');
    await writeFile(join(base, 'file'), '');
    expect(() => openAnswers({ folder: join(base, 'file') }, undefined, KEYS)).toThrow("Vitrine's alone");
    const store = folderStore({ folder });
    await store.write(nameOf(1), bytesOf(10));
    await rename(folder, join(elsewhere, 'moved'));
    await symlink(join(elsewhere, 'moved'), folder);
    await expect(store.read(nameOf(1))).rejects.toThrow('is a link, or no folder now');
    await expect(store.write(nameOf(2), bytesOf(10))).rejects.toThrow('is a link, or no folder now');
    expect(await readdir(join(elsewhere, 'moved'))).toEqual([`${nameOf(1)}.answer`]);
  });

  it('needs keys, and answers on a bus need a bus', () => {
    expect(() => openAnswers({ folder }, undefined, undefined)).toThrow('need keys that outlive the process');
    expect(() => openAnswers({ bus: true }, undefined, KEYS)).toThrow('shared on the bus, and there is none');
  });
});
