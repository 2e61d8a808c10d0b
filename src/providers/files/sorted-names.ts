/**
 * The sorted names of one directory: directories first, then by UTF-16 code units. They are stored as one block of
 * UTF-8 with offsets, because a million strings would take several times the memory.
 */
import { giveWay } from '../../core/breaks.ts';

/** `d` a directory, `f` a regular file, `l` a symbolic link, which is sorted with the files. */
export type EntryKind = 'd' | 'f' | 'l';

export interface Entry {
  readonly kind: EntryKind;
  readonly name: string;
}

export interface SortedNames {
  readonly length: number;
  /** The bytes of memory that the names take. */
  readonly byteLength: number;
  at(index: number): Entry;
  /** Returns the index of the first entry after a given one, which may have been removed. */
  after(entry: Entry): number;
  /** Returns the index of the first entry of a group (directories, or the rest) whose name is not before the given one. */
  from(directories: boolean, name: string): number;
  /** The number of directories, which come first. */
  readonly directories: number;
}

/** The number of names that are sorted before the event loop gets a turn. */
const BATCH = 8_192;

/** Sorts entries as they arrive, without blocking the event loop for long. */
export async function sortNames(entries: AsyncIterable<readonly Entry[]>): Promise<SortedNames> {
  const directories = new Runs();
  const others = new Runs();
  const links = new Set<string>();
  for await (const some of entries) {
    for (const { kind, name } of some) {
      (kind === 'd' ? directories : others).add(name);
      if (kind === 'l') links.add(name);
    }
  }
  const first = await directories.merge();
  const rest = await others.merge();
  return pack(first, rest, links);
}

/** Sorts names by merging: sorted runs of at most `BATCH` names, and then ever longer ones. */
class Runs {
  readonly #runs: string[][] = [];
  #open: string[] = [];

  add(name: string): void {
    this.#open.push(name);
    if (this.#open.length >= BATCH) this.#seal();
  }

  #seal(): void {
    if (this.#open.length > 0) this.#runs.push(this.#open.sort());
    this.#open = [];
  }

  async merge(): Promise<readonly string[]> {
    this.#seal();
    let runs = this.#runs;
    while (runs.length > 1) {
      const merged: string[][] = [];
      for (let index = 0; index < runs.length; index += 2) {
        const left = runs[index] ?? [];
        const right = runs[index + 1];
        merged.push(right === undefined ? left : await mergeTwo(left, right));
      }
      runs = merged;
    }
    return runs[0] ?? [];
  }
}

async function mergeTwo(left: readonly string[], right: readonly string[]): Promise<string[]> {
  const merged: string[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const a = left[i];
    const b = right[j];
    if (b === undefined || (a !== undefined && a < b)) {
      if (a !== undefined) merged.push(a);
      i++;
    } else {
      merged.push(b);
      j++;
    }
    if (merged.length % BATCH === 0) await giveWay();
  }
  return merged;
}

function pack(directories: readonly string[], others: readonly string[], links: ReadonlySet<string>): SortedNames {
  const length = directories.length + others.length;
  const offsets = new Uint32Array(length + 1);
  const isLink = new Uint8Array(others.length);
  let size = 0;
  for (const name of directories) size += Buffer.byteLength(name);
  for (const name of others) size += Buffer.byteLength(name);
  const block = Buffer.allocUnsafe(size);
  let at = 0;
  let index = 0;
  for (const [position, name] of others.entries()) isLink[position] = links.has(name) ? 1 : 0;
  for (const group of [directories, others]) {
    for (const name of group) {
      at += block.write(name, at, 'utf8');
      offsets[++index] = at;
    }
  }
  const nameAt = (position: number): string => block.toString('utf8', offsets[position], offsets[position + 1]);
  const from = (inDirectories: boolean, name: string): number => {
    let low = inDirectories ? 0 : directories.length;
    let high = inDirectories ? directories.length : length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (nameAt(middle) < name) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const directoryCount = directories.length;
  return {
    length,
    byteLength: size + offsets.byteLength + isLink.byteLength,
    directories: directoryCount,
    at(position) {
      const kind = position < directoryCount ? 'd' : isLink[position - directoryCount] === 1 ? 'l' : 'f';
      return { name: nameAt(position), kind };
    },
    after({ kind, name }) {
      const position = from(kind === 'd', name);
      const end = kind === 'd' ? directoryCount : length;
      return position < end && nameAt(position) === name ? position + 1 : position;
    },
    from,
  };
}
