/** Builds the folders and files of an archive out of the names of its entries. */
import { ResourceError } from '../../core/errors.ts';
import { nameProblem } from '../../core/uri.ts';
import { MAX_DEPTH, MAX_ENTRIES, MAX_TOTAL_BYTES } from './limits.ts';

/** A file in an archive. Where its bytes lie is known to the format. */
export interface Entry {
  /** Bytes, decompressed, as the archive says. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number | undefined;
  /** Why it cannot be read, where that is so. */
  readonly problem?: string | undefined;
  readonly at: EntryPlace;
}

export interface EntryPlace {
  /** Of its header in a zip, of its bytes in a tar. */
  readonly offset: number;
  /** Of a zip: bytes as they are stored, how they are compressed, and their checksum. */
  readonly stored?: number;
  readonly method?: number;
  readonly crc?: number;
}

export interface FolderNode {
  readonly children: Map<string, FolderNode | Entry>;
  modified: number | undefined;
  /** Names of the children, sorted, once somebody has asked. */
  sorted?: readonly string[];
}

export const isFolder = (node: FolderNode | Entry): node is FolderNode => 'children' in node;

export interface Tree {
  readonly root: FolderNode;
  /** Entries and folders. */
  readonly count: number;
  /** Entries that were left out, by reason. */
  readonly leftOut: ReadonlyMap<string, number>;
}

export interface TreeBuilder {
  /** @param entry undefined for a folder. @throws ResourceError `too-large` */
  add(path: string, entry: Entry | undefined, modified?: number): void;
  leaveOut(reason: string): void;
  done(): Tree;
}

const newFolder = (): FolderNode => ({ children: new Map(), modified: undefined });

export function buildTree(): TreeBuilder {
  const root = newFolder();
  const leftOut = new Map<string, number>();
  let count = 0;
  let seen = 0;
  let bytes = 0;
  const leaveOut = (reason: string): void => void leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
  const counted = (): void => {
    if (++count > MAX_ENTRIES) throw tooMany();
  };

  /** The folder at these names, made where it is not there; undefined where a file has the name of one. */
  function folderAt(names: readonly string[]): FolderNode | undefined {
    let folder = root;
    for (const name of names) {
      const there = folder.children.get(name);
      if (there !== undefined && !isFolder(there)) return undefined;
      const next = there ?? newFolder();
      if (there === undefined) {
        counted();
        folder.children.set(name, next);
        delete folder.sorted;
      }
      folder = next;
    }
    return folder;
  }

  return {
    leaveOut,
    add(path, entry, modified) {
      if (++seen > MAX_ENTRIES) throw tooMany();
      const names = namesOf(path);
      if (typeof names === 'string') return leaveOut(names);
      const folder = folderAt(entry === undefined ? names : names.slice(0, -1));
      if (folder === undefined) return leaveOut('lies in what is a file');
      if (entry === undefined) {
        folder.modified = modified;
        return;
      }
      bytes += entry.size;
      if (bytes > MAX_TOTAL_BYTES) throw tooLarge(`what is in it has more than ${MAX_TOTAL_BYTES} bytes`);
      const name = names.at(-1) ?? '';
      const there = folder.children.get(name);
      if (name === '' || (there !== undefined && isFolder(there))) return leaveOut('has the name of a folder');
      // The later one counts, as when the archive is unpacked.
      if (there === undefined) counted();
      folder.children.set(name, entry);
    },
    done: () => ({ root, count, leftOut }),
  };
}

/** The names on the way to an entry, or why it is left out: a name never leads out of the archive. */
function namesOf(path: string): readonly string[] | string {
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'has an absolute path';
  if (path.includes('\\')) return 'has a backslash in its name';
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return 'leads out of the archive';
  if (names.length > MAX_DEPTH) return 'lies too deep';
  return names.some((name) => nameProblem(name) !== undefined) ? 'has a name that cannot be a URI' : names;
}

export const tooLarge = (what: string): ResourceError =>
  new ResourceError('too-large', `The archive is too large to go into: ${what}`);

const tooMany = (): ResourceError => tooLarge(`it has more than ${MAX_ENTRIES} entries`);

/** The node at decoded names. */
export function nodeAt({ root }: Tree, names: readonly string[]): FolderNode | Entry | undefined {
  let node: FolderNode | Entry | undefined = root;
  for (const name of names) node = node !== undefined && isFolder(node) ? node.children.get(name) : undefined;
  return node;
}

export function sortedNames(folder: FolderNode): readonly string[] {
  folder.sorted ??= [...folder.children.keys()].sort();
  return folder.sorted;
}
