/**
 * Reads trees, the objects that git has for folders. A tree is parsed once, and its entries are found by binary search, so that
 * each page, early or late, costs the same. Parsed trees are cached up to a number of bytes: the content of a hash never changes.
 */
import { LRUCache } from 'lru-cache';
import { breaks } from '../../core/breaks.ts';
import { ResourceError } from '../../core/errors.ts';
import { gitFailed } from './command.ts';
import type { Objects } from './objects.ts';

export interface TreeEntry {
  readonly kind: 'tree' | 'file' | 'link' | 'submodule';
  /** As git writes it: `100644`, `100755`, `120000`, `40000`, `160000`. */
  readonly mode: string;
  /** The name as bytes, one character per byte. */
  readonly name: string;
  readonly oid: string;
}

export interface Tree {
  readonly length: number;
  at(index: number): TreeEntry;
  find(name: string): TreeEntry | undefined;
  /** Returns the index of the first entry whose name does not sort before these bytes. Names that begin with them follow there. */
  from(start: string): number;
  /** Returns the index of the first entry after a given one, which need not be in the tree any more. */
  after(entry: Pick<TreeEntry, 'name'> & { readonly isTree: boolean }): number;
}

export interface Trees {
  /** @throws ResourceError `too-large`, `unavailable` if the tree is missing or damaged */
  read(oid: string, signal: AbortSignal): Promise<Tree>;
  clear(): void;
}

/** The number of entries that are parsed before the clock is checked for a break. */
const STEPS = 256;

/** The most entries of a tree that is not in git's order. Git writes no such tree; its entries are sorted without a break. */
const MAX_UNORDERED = 10_000;

/** The most bytes of trees that are cached. */
const CACHE_BYTES = 64 * 1024 * 1024;

export function createTrees(objects: Objects, maxTreeBytes: number): Trees {
  const cache = new LRUCache<string, Tree & { readonly bytes: number }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes + 1_024,
  });
  return {
    async read(oid, signal) {
      const cached = cache.get(oid);
      if (cached !== undefined) return cached;
      const content = await objects.content(oid, maxTreeBytes, signal);
      if (content?.type !== 'tree') throw missing();
      if (content.bytes === undefined)
        throw new ResourceError('too-large', `The folder has more than ${maxTreeBytes} bytes of names`);
      const tree = await parseTree(content.bytes, oid.length / 2, signal);
      cache.set(oid, tree);
      return tree;
    },
    clear: () => cache.clear(),
  };
}

const missing = (): ResourceError => gitFailed('an object is missing');

/** Returns the key that entries are sorted by: the name of a folder counts as if it ended in a slash. */
const keyOf = (name: string, isTree: boolean): string => (isTree ? `${name}/` : name);

/**
 * Parses a tree. It may have millions of entries, so other work gets a turn from time to time.
 * @param hashBytes the bytes of a hash: 20 or 32
 * @throws ResourceError `unavailable` for bytes that are not a tree; the signal's reason
 */
async function parseTree(
  bytes: Buffer,
  hashBytes: number,
  signal: AbortSignal,
): Promise<Tree & { readonly bytes: number }> {
  const taken = breaks();
  const starts: number[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    if (starts.length % STEPS === 0) {
      await taken();
      signal.throwIfAborted();
    }
    const end = bytes.indexOf(0, at);
    if (end === -1 || end + 1 + hashBytes > bytes.byteLength) throw gitFailed('a tree is damaged');
    starts.push(at);
    at = end + 1 + hashBytes;
  }
  let offsets = Uint32Array.from(starts);

  function entryAt(start: number): TreeEntry {
    const space = bytes.indexOf(32, start);
    const end = bytes.indexOf(0, start);
    if (space === -1 || space > end) throw gitFailed('a tree is damaged');
    const mode = bytes.toString('latin1', start, space);
    return {
      kind: kindOf(mode),
      mode,
      name: bytes.toString('latin1', space + 1, end),
      oid: bytes.toString('hex', end + 1, end + 1 + hashBytes),
    };
  }
  const at = (index: number): TreeEntry => entryAt(offsets[index] ?? 0);
  const keyAt = (index: number): string => {
    const { name, kind } = at(index);
    return keyOf(name, kind === 'tree');
  };

  /** Returns the first index whose key is not before this one. */
  function lowerBound(key: string): number {
    let [low, high] = [0, offsets.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keyAt(middle) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  const exactly = (name: string, isTree: boolean): TreeEntry | undefined => {
    const index = lowerBound(keyOf(name, isTree));
    const entry = index < offsets.length ? at(index) : undefined;
    return entry?.name === name && (entry.kind === 'tree') === isTree ? entry : undefined;
  };

  /** Whether the tree is as git writes it: sorted, with each name once. */
  async function isProper(): Promise<boolean> {
    let before = '';
    for (let index = 0; index < offsets.length; index++) {
      if (index % STEPS === 0) {
        await taken();
        signal.throwIfAborted();
      }
      const { name, kind } = at(index);
      const key = keyOf(name, kind === 'tree');
      if (key <= before || name === '') return false;
      if (kind === 'tree' && exactly(name, false) !== undefined) return false;
      before = key;
    }
    return true;
  }
  if (!(await isProper())) {
    if (starts.length > MAX_UNORDERED) throw gitFailed('a tree is not in order, and too large to be put in order');
    // Of several entries with one name, the first one counts.
    const first = new Map<string, { readonly start: number; readonly key: string }>();
    for (const start of starts) {
      const { name, kind } = entryAt(start);
      if (name !== '' && !first.has(name)) first.set(name, { start, key: keyOf(name, kind === 'tree') });
    }
    const sorted = [...first.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    offsets = Uint32Array.from(sorted.map(({ start }) => start));
  }

  return {
    bytes: bytes.byteLength + offsets.byteLength,
    length: offsets.length,
    at,
    from: lowerBound,
    find: (name) => exactly(name, false) ?? exactly(name, true),
    after({ name, isTree }) {
      const key = keyOf(name, isTree);
      const index = lowerBound(key);
      return index < offsets.length && keyAt(index) === key ? index + 1 : index;
    },
  };
}

function kindOf(mode: string): TreeEntry['kind'] {
  const type = Number.parseInt(mode, 8) & 0o170000;
  return type === 0o040000 ? 'tree' : type === 0o120000 ? 'link' : type === 0o160000 ? 'submodule' : 'file';
}
