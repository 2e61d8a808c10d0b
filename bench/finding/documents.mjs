/**
 * Public documents, and questions whose answers are known. The documents are pages from packages of Debian. The questions are
 * lines that their authors wrote about them, short descriptions and entries of an index, which are removed from the pages.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { manualPage } from './roff.mjs';

/** Packages of manual pages. Their short descriptions are the questions. */
const MANUALS = ['manpages', 'manpages-dev', 'libssl-doc', 'git-man', 'perl-doc'];
/** The documentation of Python. The entries of its index are the questions. */
const PYTHON = 'python3.11-doc';

/** The most words of a question. */
const MAX_WORDS = 24;

/** @typedef {{readonly path: string, readonly text: string}} Document */
/** @typedef {{readonly set: string, readonly words: string, readonly path: string, readonly held: boolean}} Question */

/**
 * @param {string} cache folder in which the packages are kept
 * @returns {{documents: readonly Document[], questions: readonly Question[]}}
 */
export function documentsIn(cache) {
  const manuals = MANUALS.flatMap((name) => pagesOf(packageIn(cache, name)));
  const python = chaptersOf(packageIn(cache, PYTHON));
  return {
    documents: [...manuals, ...python].map(({ path, text }) => ({ path, text })),
    questions: [
      ...questionsOf('short descriptions of manual pages', manuals),
      ...questionsOf('entries of an index', python),
    ],
  };
}

/**
 * Returns the folder of a package, and fetches the package if it is missing.
 * @param {string} cache
 * @param {string} name
 */
function packageIn(cache, name) {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const unfinished = join(cache, `${name}.part`);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  execFileSync('apt-get', ['download', '-qq', name], { cwd: unfinished, stdio: ['ignore', 'ignore', 'ignore'] });
  const [file] = readdirSync(unfinished);
  if (file === undefined) throw new Error(`apt-get did not download ${name}`);
  execFileSync('dpkg-deb', ['-x', file, 'x'], { cwd: unfinished });
  renameSync(join(unfinished, 'x'), folder);
  rmSync(unfinished, { recursive: true });
  return folder;
}

/**
 * Files below a folder, in the order of their names.
 * @param {string} folder
 * @param {RegExp} named
 */
const filesIn = (folder, named) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && named.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();

/** @typedef {Document & {readonly asking: readonly string[]}} Asking */

/**
 * @param {string} folder
 * @returns {readonly Asking[]}
 */
function pagesOf(folder) {
  return filesIn(join(folder, 'usr/share/man'), /\.gz$/).flatMap((file) => {
    const page = manualPage(gunzipSync(readFileSync(file)).toString('utf8'));
    const about = page === undefined ? undefined : /\s-{1,2}\s(?<about>.+)$/s.exec(page.name)?.groups?.about;
    if (page === undefined || about === undefined) return [];
    const path = `manual/${file.split('/').at(-1)?.replace(/\.gz$/, '')}.md`;
    return [{ path, text: page.text, asking: [about] }];
  });
}

/** An entry of the index, and the lines that go on below it. */
const ENTRY =
  /^(?<indent> *)\.\. index::(?<same>.*)\n(?<below>(?:\k<indent> +\S.*\n|[ \t]*\n(?=\k<indent> +(?:single|pair|triple|module|statement|keyword|operator|object|exception|builtin):))*)/gm;

/**
 * @param {string} folder
 * @returns {readonly Asking[]}
 */
function chaptersOf(folder) {
  const sources = join(folder, 'usr/share/doc/python3.11/html/_sources');
  return filesIn(sources, /\.rst\.txt$/).map((file) => {
    const source = readFileSync(file, 'utf8');
    /** @type {string[]} */
    const asking = [];
    const text = source.replace(ENTRY, (...found) => {
      const { same, below } = found.at(-1);
      for (const line of `${same}\n${below}`.split('\n')) {
        const entry = /^\s*(?:(?<type>[a-z]+):)?(?<words>.+)$/.exec(line)?.groups;
        if (entry === undefined || entry.type === 'see' || entry.type === 'seealso') continue;
        const kind = ['single', 'pair', 'triple', undefined].includes(entry.type) ? '' : entry.type;
        asking.push(`${kind} ${entry.words}`);
      }
      return '';
    });
    return { path: `python/${file.slice(sources.length + 1).replace(/\.txt$/, '')}`, text, asking };
  });
}

/**
 * Returns the questions that have at least one word and belong to only one document.
 * @param {string} set
 * @param {readonly Asking[]} documents
 * @returns {readonly Question[]}
 */
function questionsOf(set, documents) {
  /** @type {Map<string, Set<string>>} */
  const places = new Map();
  for (const { path, asking } of documents) {
    for (const line of asking) {
      const words = (line.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, MAX_WORDS).join(' ');
      if (/\p{L}{2}/u.test(words)) places.set(words, (places.get(words) ?? new Set()).add(path));
    }
  }
  return [...places].flatMap(([words, paths]) => {
    const [path, another] = paths;
    return path === undefined || another !== undefined ? [] : [{ set, words, path, held: isHeld(path) }];
  });
}

/** Half of the documents are held out: nothing is tuned by their questions. @param {string} path */
const isHeld = (path) => (createHash('sha256').update(path).digest()[0] ?? 0) % 2 === 1;
