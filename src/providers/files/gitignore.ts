/** Applies the `.gitignore` files of a tree. Each counts for its own directory and all below it. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ignore } from 'ignore';
import { LRUCache } from 'lru-cache';
import { ResourceError } from '../../core/errors.ts';
import { faultOf } from './fault.ts';
import { fill, openBeneath } from './open.ts';

export const GITIGNORE = '.gitignore';

/** The most bytes of a `.gitignore`. A larger one is not read, and leaves out everything beside and below it. */
const MAX_BYTES = 1024 * 1024;

/** The most bytes of `.gitignore` files that are remembered; each is read again when it changes. */
const MAX_REMEMBERED_BYTES = 16 * 1024 * 1024;

/** Bytes that an entry of the caches takes beside its text. */
const ENTRY_BYTES = 1_024;

/** The library keeps the result for every path in memory, so its object is replaced after this many paths. */
const MAX_TESTS = 50_000;

/** The most characters of a line. A longer one counts as `*` and leaves out everything; with a `!` in front it does not count. */
const MAX_LINE_LENGTH = 4_096;

/**
 * The most double stars between slashes in one pattern. Matching more of them takes too long, so such a pattern is cut there,
 * and leaves out all that begins like it. With a `!` in front, it does not count.
 */
const MAX_GLOBSTARS = 2;

/** The rules for one directory, from its own `.gitignore` and those of the directories above it. */
export interface IgnoreRules {
  /** Changes when the rules do. */
  readonly version: string;
  /** Whether the rules leave out a path, written from the root. The path of a directory ends in a slash. */
  ignores(path: string): boolean;
}

export interface Gitignores {
  /** @throws ResourceError `unavailable` while a file with rules cannot be read */
  rulesIn(directory: readonly string[]): Promise<IgnoreRules>;
}

/** The patterns of one `.gitignore`, rewritten as they would stand in one at the root. */
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

  /** Returns the patterns of the `.gitignore` in a directory; undefined if there is none. */
  async function patternsIn(directory: readonly string[]): Promise<Patterns | undefined> {
    try {
      const stats = await lstat(join(root, ...directory, GITIGNORE), { bigint: true });
      // A link does not count as a `.gitignore`, as in git.
      if (!stats.isFile()) return undefined;
      const key = directory.join('/');
      const stamp = `${key}:${stats.ino}:${stats.mtimeNs}:${stats.size}`;
      const remembered = files.get(key);
      if (remembered?.stamp === stamp) return remembered;
      const lines = (await textIn(root, directory)).split(/\r?\n/).flatMap((line) => atRoot(line, directory));
      const patterns = { stamp, lines, bytes: lines.reduce((sum, line) => sum + line.length, 0) };
      files.set(key, patterns);
      return patterns;
    } catch (error) {
      const fault = faultOf(error, '');
      if (fault instanceof ResourceError && fault.code === 'not-found') return undefined;
      if (fault instanceof ResourceError && fault.code === 'denied') {
        // As with one that is too large, the server cannot know which files it leaves out.
        const lines = atRoot('*', directory);
        return { stamp: `${directory.join('/')}:denied`, lines, bytes: lines.join().length };
      }
      throw new ResourceError('unavailable', 'The rules of a .gitignore cannot be read now; try again', {
        cause: error,
      });
    }
  }

  return {
    async rulesIn(directory) {
      const onTheWay = await Promise.all([...directory, ''].map((_, depth) => patternsIn(directory.slice(0, depth))));
      const levels = onTheWay.filter((patterns) => patterns !== undefined);
      const version = levels.map((patterns) => patterns.stamp).join('\n');
      const remembered = compiled.get(version);
      if (remembered !== undefined) return remembered;
      // The last pattern that matches a path decides, so the deepest file wins, as in git.
      const rules = await compile(version, levels.flatMap((patterns) => patterns.lines).join('\n'));
      const bytes = levels.reduce((sum, patterns) => sum + patterns.bytes, version.length);
      compiled.set(version, rules, { size: bytes + ENTRY_BYTES });
      return rules;
    },
  };
}

/** Reads the `.gitignore` in a directory: as `*` if it is too large, as empty if a link or a directory was put in its place. */
async function textIn(root: string, directory: readonly string[]): Promise<string> {
  const { handle, stat, segments } = await openBeneath(root, [...directory, GITIGNORE], 'content', '');
  try {
    if (!stat.isFile() || segments.at(-1) !== GITIGNORE) return '';
    if (stat.size > MAX_BYTES) return '*';
    const buffer = Buffer.alloc(Number(stat.size));
    const bytesRead = await fill(handle, buffer, 0);
    return buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '');
  } finally {
    await handle.close();
  }
}

async function compile(version: string, text: string): Promise<IgnoreRules> {
  if (text === '') return { version, ignores: () => false };
  // Loaded on demand: few mounts need it.
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

/** Rewrites a line of a directory's file as it would stand in one at the root. Returns nothing for a line without a pattern. */
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
  // A pattern without a slash, or with one at its end only, counts at every depth below.
  const rooted = bounded.slice(0, -1).includes('/');
  return [`${not}/${below}/${rooted ? bounded.replace(/^\//, '') : `**/${bounded}`}`];
}

/** Removes the spaces at the end that are not escaped. */
function withoutTrail(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === ' ' && pattern[end - 2] !== '\\') end--;
  return pattern.slice(0, end);
}
