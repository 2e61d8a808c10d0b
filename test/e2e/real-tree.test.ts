/** A real tree: the `node_modules` of this repository, listed to the end and read back. */
import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, type ListAnswer, readOne } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { type Connected, connect, ROOT } from './harness.ts';

const TREE = join(ROOT, 'node_modules');
/** Tools write into these folders while tests run. */
const CACHES = ['.vite', '.vite-temp', '.vitest', '.cache'];
const ROOT_URI = 'tree+file:///';
const WINDOW_BYTES = 4 * 1024 * 1024;
const CONCURRENCY = 16;
/** One in `ONE_OF` files is read back, and `LARGE_ONES` large ones: to read all tens of thousands would take minutes. */
const ONE_OF = 5;
const LARGE_ONES = 4;

interface Found {
  /** A path below the root, with slashes. That of a folder ends with one. */
  readonly path: string;
  readonly size: number | undefined;
}

interface Listed extends Found {
  readonly uri: string;
}

describe('the tree of node_modules over HTTP', () => {
  let folder: Folder;
  let server: Connected;
  let expected: readonly Found[];
  let listed: readonly Listed[];
  beforeAll(async () => {
    folder = await temporaryFolder();
    const tree = { path: TREE, hidden: true, credentials: true, vcs: true, exclude: CACHES };
    server = await connect('http', 'modern', ['--config', await writeConfig(folder, { mounts: { tree } })]);
    expected = await walkDisk(await realpath(TREE));
    listed = await walkServer(server);
  }, 90_000);
  afterAll(async () => {
    await server.close();
    await folder[Symbol.asyncDispose]();
  });

  it('is listed to the end page by page, and no entry is lost or repeated [2093-4, RES-6]', () => {
    expect(expected.length).toBeGreaterThan(1_000);
    expect(listed.map(({ path, size }) => `${path} ${size}`).sort()).toEqual(
      expected.map(({ path, size }) => `${path} ${size}`).sort(),
    );
  });

  it('is read back byte for byte, in files from all over it [2093-6, RES-2]', async () => {
    let bytes = 0;
    let windows = 0;
    const sorted = listed.filter(({ size }) => size !== undefined).sort((a, b) => (a.path < b.path ? -1 : 1));
    const isLarge = ({ size = 0 }: Listed): boolean => size > WINDOW_BYTES;
    const files = [
      ...sorted.filter((file, index) => !isLarge(file) && index % ONE_OF === 0),
      ...sorted.filter(isLarge).slice(0, LARGE_ONES),
    ];
    await inParallel(files, async ({ uri, path, size = 0 }) => {
      if (size <= WINDOW_BYTES) {
        const item = await readOne(server, uri);
        const onDisk = await readFile(join(TREE, path));
        if (!bytesOf(item).equals(onDisk)) throw new Error(`${path} differs`);
        bytes += onDisk.byteLength;
        return;
      }
      windows += await compareInWindows(server, uri, join(TREE, path), size);
      bytes += size;
    });
    console.log(`read ${files.length} files back, ${bytes} bytes, the large ones in ${windows} windows`);
    expect(sorted.length).toBe(expected.filter(({ path }) => !path.endsWith('/')).length);
    expect(files.length).toBeGreaterThan(1_000);
    expect(bytes).toBe(files.reduce((sum, { size = 0 }) => sum + size, 0));
    expect(windows).toBeGreaterThan(0);
  }, 180_000);
});

/** Every entry that the server lists, folder by folder and page by page, as often as it is listed. */
async function walkServer(on: Connected): Promise<Listed[]> {
  const listed: Listed[] = [];
  let pages = 0;
  let folders = 0;
  await inParallel([ROOT_URI], async (uri, push) => {
    folders++;
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? { uri } : { uri, cursor };
      const answer: ListAnswer = await on.request<ListAnswer>('resources/list', params);
      pages++;
      for (const { uri: child, size, capabilities } of answer.resources) {
        const path = decodeURIComponent(child.slice(ROOT_URI.length)) + (capabilities?.list ? '/' : '');
        listed.push({ uri: child, path, size });
        if (capabilities?.list) push(child);
      }
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
  });
  console.log(`walked ${listed.length} entries in ${folders} folders and ${pages} pages`);
  return listed;
}

/** Compares a large file window by window. Returns the number of windows. */
async function compareInWindows(on: Connected, uri: string, path: string, size: number): Promise<number> {
  const file = await open(path);
  try {
    let windows = 0;
    for (let offset = 0; offset < size; windows++) {
      const part = bytesOf(await readOne(on, uri, { offset, length: WINDOW_BYTES }));
      const onDisk = Buffer.alloc(part.byteLength);
      await file.read(onDisk, 0, onDisk.byteLength, offset);
      if (part.byteLength === 0 || !part.equals(onDisk)) throw new Error(`${path} differs behind ${offset}`);
      offset += part.byteLength;
    }
    return windows;
  } finally {
    await file.close();
  }
}

/** Works on a queue that may grow, several items at a time. */
async function inParallel<T>(
  start: readonly T[],
  work: (item: T, push: (item: T) => void) => Promise<void>,
): Promise<void> {
  const queue = [...start];
  const running = new Set<Promise<void>>();
  while (queue.length > 0 || running.size > 0) {
    while (queue.length > 0 && running.size < CONCURRENCY) {
      const item = queue.shift() as T;
      const one: Promise<void> = work(item, (more) => queue.push(more)).finally(() => running.delete(one));
      running.add(one);
    }
    await Promise.race(running);
  }
}

/** Lists a folder with Node.js itself. A link counts as its target, unless that is outside or a parent. */
async function walkDisk(root: string): Promise<Found[]> {
  const found: Found[] = [];
  const queue: { path: string; above: readonly string[] }[] = [{ path: '', above: [root] }];
  for (let here = queue.shift(); here !== undefined; here = queue.shift()) {
    for (const name of await readdir(join(root, here.path))) {
      if (here.path === '' && CACHES.includes(name)) continue;
      const path = here.path + name;
      const target = await targetOf(root, path);
      if (target === undefined) continue;
      const stats = await stat(target);
      if (stats.isFile()) found.push({ path, size: stats.size });
      if (!stats.isDirectory() || here.above.includes(target)) continue;
      found.push({ path: `${path}/`, size: undefined });
      queue.push({ path: `${path}/`, above: [...here.above, target] });
    }
  }
  return found;
}

/** Gives the target of a path, if it is inside. */
async function targetOf(root: string, path: string): Promise<string | undefined> {
  const target = await realpath(join(root, path)).catch(() => undefined);
  return target === root || target?.startsWith(root + sep) ? target : undefined;
}
