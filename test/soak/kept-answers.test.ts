/**
 * Reads and lists beside writers: none gives a content that was replaced by a write which had ended before the request. `npm run soak --
 * --operations 200000` runs longer.
 */
import { mkdir, open, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { wrapProvider } from '../../src/core/layer.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createEndpoint, type HttpEndpoint } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ENVELOPE, JSON_HEADERS } from '../e2e/raw.ts';

const operations = Number(process.env.VITRINE_SOAK_OPERATIONS ?? 420) * 10;
const FILES = 6;
const READERS = 4;
/** The longest pause of a writer, in milliseconds: many pauses are too short for an answer to be kept. */
const REST_MS = 160;

const PAST = new Date('2020-02-02T02:02:02Z');

/** Each text begins with its number, and all have one size. */
const textOf = (count: number): string => `${String(count).padStart(12, '0')} ${'.'.repeat(500)}`;

/** The number of the last write to a file that has ended, and of the last that has begun. */
interface Written {
  done: number;
  begun: number;
}

/** Ways to write, each of which hides the change from some way to detect it. */
const WAYS: readonly ((folder: Folder, name: string, text: string) => Promise<void>)[] = [
  (folder, name, text) => writeFile(folder.at(name), text, { flag: 'r+' }),
  async (folder, name, text) => {
    const { atime, mtime } = await stat(folder.at(name));
    await writeFile(folder.at(name), text, { flag: 'r+' });
    await utimes(folder.at(name), atime, mtime);
  },
  async (folder, name, text) => {
    const beside = folder.at(`${name}.new`);
    const { atime, mtime } = await stat(folder.at(name));
    await writeFile(beside, text);
    await utimes(beside, atime, mtime);
    await rename(beside, folder.at(name));
  },
  async (folder, name, text) => {
    const file = await open(folder.at(name), 'r+');
    await file.write('000', 0);
    await file.write(text, 0);
    await file.close();
  },
];

async function ask<T>(endpoint: HttpEndpoint, method: string, params: { readonly uri?: string }): Promise<T> {
  const response = await endpoint.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        ...JSON_HEADERS,
        host: 'localhost',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(method === 'resources/read' && { 'mcp-name': params.uri }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } }),
    }),
  );
  const { result } = (await response.json()) as { result: T };
  return result;
}

it(`${operations} reads beside ${FILES} writers give nothing older than the latest write`, {
  timeout: 60_000 + operations * 20,
}, async () => {
  const names = Array.from({ length: FILES }, (_, index) => `file-${index}.txt`);
  await using folder = await temporaryFolder(Object.fromEntries(names.map((name) => [name, textOf(0)])));
  // Times that can be set exactly.
  for (const name of names) await utimes(folder.at(name), PAST, PAST);
  const files = await filesProvider({ path: folder.path });
  let opened = 0;
  const counted = wrapProvider(files, {
    read(uri, want, ctx) {
      opened++;
      return files.read(uri, want, ctx);
    },
    again: (bodies, uri, want, ctx) => files.again?.(bodies, uri, want, ctx) === true,
  });
  const vitrine = createVitrine({ mounts: [{ name: 'm', provider: counted }] });
  const endpoint = createEndpoint(vitrine);
  const written = new Map<string, Written>(names.map((name) => [name, { done: 0, begun: 0 }]));
  let reading = true;
  let asked = 0;
  const writes = (): number => [...written.values()].reduce((sum, { done }) => sum + done, 0);

  async function write(name: string, state: Written): Promise<void> {
    while (reading) {
      await pause(Math.random() * REST_MS);
      state.begun++;
      await WAYS[state.begun % WAYS.length]?.(folder, name, textOf(state.begun));
      state.done = state.begun;
    }
  }

  async function read(): Promise<void> {
    // On a busy machine writers get their turn later.
    while (asked < operations || writes() <= FILES) {
      const name = names[asked++ % FILES] ?? '';
      const uri = `m+file:///${name}`;
      const { done = 0 } = written.get(name) ?? {};
      const result = await ask<{ contents: [{ text: string }] }>(endpoint, 'resources/read', { uri });
      const count = Number(result.contents[0].text.slice(0, 12));
      const { begun = 0 } = written.get(name) ?? {};
      if (count < done || count > begun) throw new Error(`${name}: read ${count}, of ${done} to ${begun}`);
      // Writers are in this process, too.
      if (asked % 8 === 0) await pause(1);
    }
  }

  const writers = [...written].map(([name, state]) => write(name, state));
  try {
    await Promise.all(Array.from({ length: READERS }, read));
  } finally {
    reading = false;
    await Promise.all(writers);
    await endpoint.close();
    await vitrine.close();
  }
  // Some of the answers were kept ones, for which no file was read.
  expect(opened).toBeLessThan(asked);
});

/** Ways to add and remove files. */
const COMINGS: readonly ((folder: Folder, path: string) => Promise<unknown>)[] = [
  (folder, path) => folder.write(path, 'new'),
  (folder, path) => mkdir(folder.at(path)),
  (folder, path) => rename(folder.at('aside', path), folder.at(path)),
];
const GOINGS: readonly ((folder: Folder, path: string) => Promise<unknown>)[] = [
  (folder, path) => rm(folder.at(path), { recursive: true }),
  (folder, path) => rename(folder.at(path), folder.at('aside', path)),
];

it(`${operations / 10} lists beside ${FILES} files that come and go have exactly the existing ones`, {
  timeout: 60_000 + operations * 20,
}, async () => {
  const names = Array.from({ length: FILES }, (_, index) => `entry-${index}`);
  await using folder = await temporaryFolder({ 'here/there.txt': '', 'aside/here/': '' });
  const files = await filesProvider({ path: folder.at('here') });
  let listed = 0;
  const counted = wrapProvider(files, {
    list(uri, page, ctx) {
      listed++;
      return files.list(uri, page, ctx);
    },
    listAgain: (page, uri, want, ctx) => files.listAgain?.(page, uri, want, ctx) === true,
  });
  const vitrine = createVitrine({ mounts: [{ name: 'm', provider: counted }] });
  const endpoint = createEndpoint(vitrine);
  /** Whether each file certainly exists, or not; undefined during a change. And the number of changes. */
  const places = names.map((name) => ({ name, path: `here/${name}`, there: false as boolean | undefined, changes: 0 }));
  let listing = true;
  let asked = 0;
  const changes = (): number => places.reduce((sum, place) => sum + place.changes, 0);

  async function change(place: (typeof places)[number]): Promise<void> {
    while (listing) {
      await pause(Math.random() * 2 * REST_MS);
      const { there, path } = place;
      place.there = undefined;
      place.changes++;
      const aside = await stat(folder.at('aside', path)).then(
        () => true,
        () => false,
      );
      if (there) await GOINGS[place.changes % (aside ? 1 : 2)]?.(folder, path);
      else await COMINGS[aside ? 2 : place.changes % 2]?.(folder, path);
      place.there = !there;
    }
  }

  async function list(): Promise<void> {
    while (asked < operations / 10 || changes() === 0) {
      const uri = asked++ % 2 === 0 ? 'm+file:///' : undefined;
      const before = places.map(({ there, changes }) => ({ there, changes }));
      const { resources } = await ask<{ resources: readonly { name: string }[] }>(endpoint, 'resources/list', {
        ...(uri !== undefined && { uri }),
      });
      const found = new Set(resources.map(({ name }) => name));
      expect(found).toContain('there.txt');
      for (const [index, { name, there, changes }] of places.entries()) {
        const was = before[index];
        if (was === undefined || was.changes !== changes || was.there !== there || there === undefined) continue;
        if (found.has(name) !== there) throw new Error(`${name}: ${there ? 'is there' : 'is not there'}, by ${uri}`);
      }
      if (asked % 8 === 0) await pause(1);
    }
  }

  const changing = places.map(change);
  try {
    await Promise.all(Array.from({ length: READERS }, list));
  } finally {
    listing = false;
    await Promise.all(changing);
    await endpoint.close();
    await vitrine.close();
  }
  expect(listed).toBeGreaterThan(0);
});
