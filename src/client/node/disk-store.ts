/**
 * A cache on disk: one file for each answer, named by the hash of its key, so that no server controls a file name. Its
 * size is bounded, and invalid files are deleted.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CacheEntry, type CacheKey, type CacheStore, keyText } from '../cache-store.ts';

export interface DiskStoreOptions {
  /** The most bytes of all files. The least recently used files are deleted first. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
}

export const DEFAULT_DISK_BYTES = 256 * 1024 * 1024;

/** The most bytes of a file's first line, which is the key and a line feed. Answers with longer keys are not kept. */
const MAX_HEAD = 16 * 1024;

const SUFFIX = '.json';

interface Indexed {
  readonly key: CacheKey;
  readonly bytes: number;
}

/**
 * Opens a folder as a store. Creates it, for this user only, if it is missing. The answers in it are not
 * encrypted. Only one program may use it at a time. A client finds the answers of an earlier one only if both set the
 * same `cache.server` and `cache.partition`.
 */
export async function diskStore(
  folder: string,
  { maxBytes = DEFAULT_DISK_BYTES }: DiskStoreOptions = {},
): Promise<CacheStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // The least recently used come first: a map keeps the order of insertion.
  const index = new Map<string, Indexed>();
  let bytes = 0;
  for (const { name, indexed } of await indexOf(folder)) {
    index.set(name, indexed);
    bytes += indexed.bytes;
  }
  // File changes run one after the other.
  let work: Promise<void> = Promise.resolve();
  const enqueue = (task: () => Promise<void>): Promise<void> => {
    work = work.then(task).catch(() => {});
    return work;
  };
  const fileOf = (name: string): string => join(folder, name + SUFFIX);

  function drop(name: string): void {
    const indexed = index.get(name);
    if (indexed === undefined) return;
    index.delete(name);
    bytes -= indexed.bytes;
    void enqueue(async () => {
      if (!index.has(name)) await rm(fileOf(name), { force: true });
    });
  }

  return {
    async get(key) {
      const name = nameOf(key);
      const indexed = index.get(name);
      if (indexed === undefined) return undefined;
      index.delete(name);
      index.set(name, indexed);
      await work;
      const text = await readFile(fileOf(name), 'utf8').catch(() => undefined);
      // The entry may have been removed meanwhile.
      if (index.get(name) !== indexed) return undefined;
      const entry = text === undefined ? undefined : entryIn(text, key);
      if (entry === undefined) drop(name);
      return entry;
    },
    async set(key, entry) {
      const head = keyText(key);
      const name = nameOf(key);
      const { value, ...rest } = entry;
      const text = `${head}\n${JSON.stringify(rest)}\n${JSON.stringify(value)}\n`;
      const size = Buffer.byteLength(text);
      drop(name);
      if (Buffer.byteLength(head) >= MAX_HEAD || size > maxBytes) return;
      const indexed: Indexed = { key, bytes: size };
      index.set(name, indexed);
      bytes += size;
      for (const oldest of index.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
      await enqueue(async () => {
        if (index.get(name) !== indexed) return;
        const draft = join(folder, `${randomUUID()}.tmp`);
        try {
          await writeFile(draft, text, { mode: 0o600 });
          await rename(draft, fileOf(name));
        } catch (error) {
          await rm(draft, { force: true });
          if (index.get(name) === indexed) drop(name);
          throw error;
        }
      });
    },
    forget(matches) {
      for (const [name, { key }] of index) if (matches(key)) drop(name);
    },
    close: () => work,
  };
}

const nameOf = (key: CacheKey): string => createHash('sha256').update(keyText(key)).digest('hex');

/** Returns the answers in a folder, oldest first. Deletes unfinished files, and files without a valid key. */
async function indexOf(folder: string): Promise<readonly { readonly name: string; readonly indexed: Indexed }[]> {
  const found: { readonly name: string; readonly indexed: Indexed; readonly at: number }[] = [];
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    if (/^[0-9a-f-]{36}\.tmp$/.test(file)) await rm(path, { force: true });
    const name = /^([0-9a-f]{64})\.json$/.exec(file)?.[1];
    if (name === undefined) continue;
    const key = await keyIn(path).catch(() => undefined);
    if (key === undefined || nameOf(key) !== name) {
      await rm(path, { force: true });
      continue;
    }
    const { size, mtimeMs } = await stat(path);
    found.push({ name, indexed: { key, bytes: size }, at: mtimeMs });
  }
  return found.sort((a, b) => a.at - b.at);
}

/** Reads the first line of a file. */
async function keyIn(path: string): Promise<CacheKey | undefined> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEAD), 0, MAX_HEAD, 0);
  const [head = ''] = buffer.subarray(0, bytesRead).toString('utf8').split('\n', 1);
  const parts: unknown = JSON.parse(head);
  if (!Array.isArray(parts) || parts.length !== 5 || !parts.every((part) => typeof part === 'string')) return undefined;
  const [server, partition, method, uri, part] = parts as [string, string, string, string, string];
  return { server, partition, method, uri, part };
}

function entryIn(text: string, key: CacheKey): CacheEntry | undefined {
  const [head, rest, value] = text.split('\n');
  if (head !== keyText(key) || rest === undefined || value === undefined) return undefined;
  try {
    const { until, validator } = JSON.parse(rest) as Partial<CacheEntry>;
    if (typeof until !== 'number') return undefined;
    return { value: JSON.parse(value), until, ...(typeof validator === 'string' && { validator }) };
  } catch {
    return undefined;
  }
}
