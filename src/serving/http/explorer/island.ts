/** Serves the built files of the island: the script that takes over a page of the explorer in a browser (`src/explorer`). */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Island } from '../../../frontends/explorer/layout.ts';
import { ENDPOINT } from '../../defaults.ts';
import type { PageAnswer } from '../exchange.ts';

/** The most files of the island; further ones are not served. */
const MAX_FILES = 128;

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

export interface IslandFiles {
  /** The addresses that a page links to. */
  readonly links: Island;
  /** Returns a file; undefined where there is none. @param path such as `/explorer/1a2b3c4d5e6f7a8b/island.js` */
  answer(path: string): PageAnswer | undefined;
}

/** Reads the built files; undefined where they were not built, so that pages have no script. */
export async function readIsland(): Promise<IslandFiles | undefined> {
  const files = await builtFiles();
  if (files === undefined) return undefined;
  const hash = createHash('sha256');
  for (const [name, bytes] of files) hash.update(`${name}\n${bytes.byteLength}\n`).update(bytes);
  // The address changes with the content of any file, so that browsers may cache the files for ever.
  const base = `/explorer/${hash.digest('hex').slice(0, 16)}/`;
  return {
    links: { script: `${base}island.js`, style: `${base}island.css`, endpoint: ENDPOINT },
    answer(path) {
      const name = path.startsWith(base) ? path.slice(base.length) : '';
      const body = files.get(name);
      return body && { status: 200, headers: headersOf(name), body: body.toString() };
    },
  };
}

/** Folders that may have the built files, relative to the bundled script or to this source file. */
const FOLDERS = ['./explorer/', '../explorer/', '../../explorer/', '../../../../dist/explorer/'];

async function builtFiles(): Promise<ReadonlyMap<string, Buffer> | undefined> {
  for (const each of FOLDERS) {
    const folder = fileURLToPath(new URL(each, import.meta.url));
    const all = await readdir(folder).catch((): string[] => []);
    if (!all.includes('island.js')) continue;
    const names = all.filter((name) => /^[\w-]+\.(?:js|css)$/.test(name)).sort();
    const read = names.slice(0, MAX_FILES).map(async (name) => [name, await readFile(`${folder}${name}`)] as const);
    return new Map(await Promise.all(read));
  }
  return undefined;
}

const headersOf = (name: string): Readonly<Record<string, string>> => ({
  'Content-Type': TYPES[name.split('.').pop() ?? ''] ?? 'application/octet-stream',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'public, max-age=31536000, immutable',
});
