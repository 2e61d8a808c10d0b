/**
 * Trees: what git keeps for a folder. One is read once and its entries found by halving, so that a late page costs as
 * much as an early one; trees that were read are remembered up to a number of bytes, since a hash has one content.
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
  /** One character a byte. */
  readonly name: string;
  readonly oid: string;
}

export interface Tree {
  readonly length: number;
  at(index: number): TreeEntry;
  find(name: string): TreeEntry | undefined;
  /** The first entry behind one that is, or was, there. */
  after(entry: Pick<TreeEntry, 'name'> & { readonly isTree: boolean }): number;
}

export interface Trees {
  /** @throws ResourceError `too-large`, `unavailable` where it is missing or damaged */
  read(oid: string, signal: AbortSignal): Promise<Tree>;
  clear(): void;
}

/** Entries that are looked at between two looks at the time. */
const STEPS = 256;

/** The most entries of a tree that is not in the order that git writes, which is none that git wrote; they are sorted at once. */
const MAX_UNORDERED = 10_000;

/** Bytes of trees that are remembered. */
const CACHE_BYTES = 64 * 1024 * 1024;

export function createTrees(objects: Objects, maxTreeBytes: number): Trees {
  const known = new LRUCache<string, Tree & { readonly bytes: number }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes + 1_024,
  });
  return {
    async read(oid, signal) {
      const remembered = known.get(oid);
      if (remembered !== undefined) return remembered;
      const content = await objects.content(oid, maxTreeBytes, signal);
      if (content?.type !== 'tree') throw missing();
      if (content.bytes === undefined)
        throw new ResourceError('too-large', `The folder has more than ${maxTreeBytes} bytes of names`);
      const tree = await parseTree(content.bytes, oid.length / 2, signal);
      known.set(oid, tree);
      return tree;
    },
    clear: () => known.clear(),
  };
}

const missing = (): ResourceError => gitFailed('an object is missing');

/** Returns the key that orders an entry: a folder's name counts as if a slash were behind it. */
const keyOf = (name: string, isTree: boolean): string => (isTree ? `${name}/` : name);

/**
 * There may be millions of entries: others have their turn while they are looked at.
 * @throws ResourceError `unavailable` for bytes that are no tree; the signal's reason
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

  /** The first index whose key is not before this one. */
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

  /** As git writes trees: in order, each name once. Others are put in order here, the first of a name counting. */
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
