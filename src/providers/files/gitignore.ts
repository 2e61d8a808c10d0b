/** Applies the `.gitignore` files of a tree, each to the directory that it lies in and below. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ignore } from 'ignore';
import { LRUCache } from 'lru-cache';
import { openBeneath } from './open.ts';

export const GITIGNORE = '.gitignore';

/** A `.gitignore` with more bytes is not read: it leaves out everything that lies beside and below it. */
const MAX_BYTES = 1024 * 1024;

/** The most bytes of `.gitignore` files that are remembered; each is read again when it changes. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024;

/** Bytes that an entry costs beside its text. */
const ENTRY_BYTES = 1_024;

/** The library remembers every path that it was asked about: after this many it is made anew. */
const MAX_TESTS = 50_000;

/** No path is as long as a longer line, so it is taken for the pattern that leaves out everything. */
const MAX_LINE_LENGTH = 4_096;

/** Double stars between slashes in one pattern; with more it takes too long to match, and leaves out all that begins like it. */
const MAX_GLOBSTARS = 2;

/** The rules for one directory: from the file in it, and from those in the directories on the way to it. */
export interface IgnoreRules {
  /** Changes when the rules do. */
  readonly version: string;
  /** Whether a path from the root is left out; a directory's ends in a slash. */
  ignores(path: string): boolean;
}

export interface Gitignores {
  rulesIn(directory: readonly string[]): Promise<IgnoreRules>;
}

/** One file: its patterns, as they would stand in a file at the root. */
interface Patterns {
  readonly stamp: string;
  readonly lines: readonly string[];
  readonly bytes: number;
}

export function createGitignores(root: string): Gitignores {
  const files = new LRUCache<string, Patterns>({
    maxSize: MAX_REMEMBERED_BYTES,
    sizeCalculation: (patterns) => patterns.bytes + ENTRY_BYTES,
  });
  const compiled = new LRUCache<string, IgnoreRules>({ maxSize: MAX_REMEMBERED_BYTES });

  async function patternsIn(directory: readonly string[]): Promise<Patterns | undefined> {
    try {
      const stats = await lstat(join(root, ...directory, GITIGNORE), { bigint: true });
      // As in git: a link is no such file.
      if (!stats.isFile()) return undefined;
      const key = directory.join('/');
      const stamp = `${key}:${stats.ino}:${stats.mtimeNs}:${stats.size}`;
      const known = files.get(key);
      if (known?.stamp === stamp) return known;
      const lines = (await textIn(root, directory)).split(/\r?\n/).flatMap((line) => atRoot(line, directory));
      const patterns = { stamp, lines, bytes: lines.reduce((sum, line) => sum + line.length, 0) };
      files.set(key, patterns);
      return patterns;
    } catch {
      return undefined;
    }
  }

  return {
    async rulesIn(directory) {
      const onTheWay = await Promise.all([...directory, ''].map((_, depth) => patternsIn(directory.slice(0, depth))));
      const levels = onTheWay.filter((patterns) => patterns !== undefined);
      const version = levels.map((patterns) => patterns.stamp).join('\n');
      const known = compiled.get(version);
      if (known !== undefined) return known;
      // The last pattern that says anything about a path decides, and so the deepest file, as in git.
      const rules = await compile(version, levels.flatMap((patterns) => patterns.lines).join('\n'));
      const bytes = levels.reduce((sum, patterns) => sum + patterns.bytes, version.length);
      compiled.set(version, rules, { size: bytes + ENTRY_BYTES });
      return rules;
    },
  };
}

/** The text of the rules in a directory; what was swapped in since it was looked at is refused or has none. */
async function textIn(root: string, directory: readonly string[]): Promise<string> {
  const { handle, stat, segments } = await openBeneath(root, [...directory, GITIGNORE], 'content', '');
  try {
    if (!stat.isFile() || segments.at(-1) !== GITIGNORE) return '';
    if (stat.size > MAX_BYTES) return '*';
    const buffer = Buffer.alloc(Number(stat.size));
    const bytesRead = await handle.read(buffer, 0, buffer.byteLength, 0);
    return buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '');
  } finally {
    await handle.close();
  }
}

async function compile(version: string, text: string): Promise<IgnoreRules> {
  if (text === '') return { version, ignores: () => false };
  // Loaded when it is wanted: few mounts ask for it.
  const { default: ignore } = await import('ignore');
  const fresh = (): Ignore => ignore({ ignorecase: process.platform !== 'linux' }).add(text);
  let rules = fresh();
  let tests = 0;
  return {
    version,
    ignores(path) {
      if (++tests > MAX_TESTS) {
        rules = fresh();
        tests = 0;
      }
      return rules.ignores(path);
    },
  };
}

/** A line of the file in a directory as it would stand at the root; none where it says nothing. */
function atRoot(line: string, directory: readonly string[]): string[] {
  const not = line.startsWith('!') ? '!' : '';
  const pattern = line.length > MAX_LINE_LENGTH ? '*' : withoutTrail(line.slice(not.length));
  if (line.startsWith('#') || /^\/*$/.test(pattern)) return [];
  const parts = pattern.split('/**/');
  const tooMany = parts.length > MAX_GLOBSTARS + 1;
  if ((tooMany || line.length > MAX_LINE_LENGTH) && not !== '') return [];
  const bounded = tooMany ? `${parts.slice(0, MAX_GLOBSTARS + 1).join('/**/')}/**` : pattern;
  if (directory.length === 0) return [not + bounded];
  const below = directory.map((name) => name.replace(/[\\*?[\] ]/g, '\\$&')).join('/');
  // Without a slash but at its end it holds at every depth below.
  const rooted = bounded.slice(0, -1).includes('/');
  return [`${not}/${below}/${rooted ? bounded.replace(/^\//, '') : `**/${bounded}`}`];
}

/** Spaces at the end count only when they are escaped. */
function withoutTrail(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === ' ' && pattern[end - 2] !== '\\') end--;
  return pattern.slice(0, end);
}
