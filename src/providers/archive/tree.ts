/** Builds the folders and files of an archive out of the names of its entries. */
import { ResourceError } from '../../core/errors.ts';
import { nameProblem } from '../../core/uri.ts';
import { MAX_DEPTH, MAX_ENTRIES, MAX_TOTAL_BYTES } from './limits.ts';

/** A file in an archive. */
export interface Entry {
  /** Decompressed bytes, as the archive claims. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number | undefined;
  /** Why the file cannot be read; undefined if it can. */
  readonly problem?: string | undefined;
  /** Tells the format where the bytes of the file lie. */
  readonly at: EntryPlace;
}

export interface EntryPlace {
  /** The position in the archive of the entry's header (zip) or of its bytes (tar). */
  readonly offset: number;
  /** Only in a zip: the compressed size in bytes, the compression method, and the checksum. */
  readonly stored?: number;
  readonly method?: number;
  readonly crc?: number;
}

export interface FolderNode {
  readonly children: Map<string, FolderNode | Entry>;
  modified: number | undefined;
  /** The sorted names of the children, once `sortedNames` has been called. */
  sorted?: readonly string[];
}

export const isFolder = (node: FolderNode | Entry): node is FolderNode => 'children' in node;

export interface Tree {
  readonly root: FolderNode;
  /** The number of files and folders. */
  readonly count: number;
  /** How many entries were left out, by reason. */
  readonly leftOut: ReadonlyMap<string, number>;
}

export interface TreeBuilder {
  /** Adds an entry. @param entry undefined for a folder. @throws ResourceError `too-large` */
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

  /** Returns the folder at these names, and makes the folders that are missing; undefined if one of the names is a file. */
  function folderAt(names: readonly string[]): FolderNode | undefined {
    let folder = root;
    for (const name of names) {
      const existing = folder.children.get(name);
      if (existing !== undefined && !isFolder(existing)) return undefined;
      const next = existing ?? newFolder();
      if (existing === undefined) {
        counted();
        folder.children.set(name, next);
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
      if (folder === undefined) return leaveOut('lies below a file');
      if (entry === undefined) {
        folder.modified = modified;
        return;
      }
      bytes += entry.size;
      if (bytes > MAX_TOTAL_BYTES) throw tooLarge(`its entries have more than ${MAX_TOTAL_BYTES} bytes`);
      const name = names.at(-1) ?? '';
      const existing = folder.children.get(name);
      if (name === '' || (existing !== undefined && isFolder(existing))) return leaveOut('has the name of a folder');
      // Of two entries with the same name, the later one counts, as when the archive is unpacked.
      if (existing === undefined) counted();
      folder.children.set(name, entry);
    },
    done: () => ({ root, count, leftOut }),
  };
}

/** Returns the names on the way to an entry, or the reason to leave the entry out. A path never leads out of the archive. */
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

/** Returns the file or folder at these decoded names; undefined if there is none. */
export function nodeAt({ root }: Tree, names: readonly string[]): FolderNode | Entry | undefined {
  let node: FolderNode | Entry | undefined = root;
  for (const name of names) node = node !== undefined && isFolder(node) ? node.children.get(name) : undefined;
  return node;
}

export function sortedNames(folder: FolderNode): readonly string[] {
  folder.sorted ??= [...folder.children.keys()].sort();
  return folder.sorted;
}
