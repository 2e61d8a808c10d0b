/** Other ways to find documents by words, over the same files. Each gives paths, best first. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DatabaseSync } from '@photostructure/sqlite';
import { rgPath } from '@vscode/ripgrep';

const MINISEARCH = 'minisearch@7.2.0';

/** The most paths that a search returns. */
export const MOST = 10;

/** @typedef {import('./documents.mjs').Document} Document */
/** @typedef {{readonly name: string, find(words: string): readonly string[] | Promise<readonly string[]>}} Rival */

/**
 * FTS5 with its own BM25, and one row for each file, with its path and its text. A file matches if it has one of the words.
 * @param {readonly Document[]} documents
 * @param {string} tokenizer
 * @returns {Rival}
 */
export function fts5(documents, tokenizer) {
  const database = new DatabaseSync(':memory:');
  database.exec(`CREATE VIRTUAL TABLE file USING fts5(path, text, tokenize='${tokenizer}')`);
  const insert = database.prepare('INSERT INTO file VALUES (?, ?)');
  database.exec('BEGIN');
  for (const { path, text } of documents) insert.run(path, text);
  database.exec('COMMIT');
  return {
    name: `FTS5, ${tokenizer}`,
    find: (words) =>
      database
        .prepare(`SELECT path FROM file WHERE file MATCH ? ORDER BY rank LIMIT ${MOST}`)
        .all(
          words
            .split(' ')
            .map((word) => `"${word}"`)
            .join(' OR '),
        )
        .map((/** @type {any} */ { path }) => path),
  };
}

/**
 * MiniSearch with its own defaults.
 * @param {readonly Document[]} documents
 * @param {string} cache folder in which the package is kept
 * @returns {Rival}
 */
export function miniSearch(documents, cache) {
  const folder = join(cache, 'node');
  if (!existsSync(join(folder, 'node_modules/minisearch'))) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', MINISEARCH];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const library = createRequire(join(folder, 'of.cjs'))('minisearch');
  const index = new (library.default ?? library)({ idField: 'path', fields: ['path', 'text'] });
  index.addAll(documents);
  return {
    name: 'MiniSearch',
    find: (words) =>
      index
        .search(words)
        .slice(0, MOST)
        .map((/** @type {any} */ { id }) => id),
  };
}

/**
 * ripgrep over a folder: the files with the most occurrences of the searched words, in upper or lower case.
 * @param {string} folder
 * @returns {Rival}
 */
export function ripgrep(folder) {
  const run = promisify(execFile);
  return {
    name: 'ripgrep, by count',
    async find(words) {
      const patterns = words.split(' ').flatMap((word) => ['-e', word]);
      const args = ['--no-config', '--no-ignore', '-i', '-w', '--count-matches', ...patterns, '.'];
      const { stdout } = await run(rgPath, args, { cwd: folder, maxBuffer: 2 ** 26 }).catch((error) => {
        if (error.code !== 1) throw error;
        return { stdout: '' };
      });
      return stdout
        .split('\n')
        .flatMap((line) => {
          const found = /^\.[\\/](?<path>.+):(?<count>\d+)$/.exec(line)?.groups;
          return found === undefined
            ? []
            : [{ path: (found.path ?? '').replaceAll('\\', '/'), count: Number(found.count) }];
        })
        .sort((a, b) => b.count - a.count || (a.path < b.path ? -1 : 1))
        .slice(0, MOST)
        .map(({ path }) => path);
    },
  };
}
