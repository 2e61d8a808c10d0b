/** A folder that is gone into as something else than a folder of files, such as a repository: one provider finds it, another reads it. */

export interface FolderPlace {
  /** Which folder it is: one that is put in its place is another one. */
  readonly file: string;
  /** Canonical; never leaves the server. */
  readonly path: string;
  readonly inside: Inside;
}

/** Gives the names and files in a folder, as they are when they are asked for, and never through a link. */
export interface Inside {
  /** The names in a folder below; undefined where there is none. @throws ResourceError `too-large` */
  entries(path: readonly string[]): Promise<readonly InsideEntry[] | undefined>;
  /** A file below, open until the caller closes it; undefined where there is none. */
  open(path: readonly string[]): Promise<InsideFile | undefined>;
}

export interface InsideEntry {
  readonly name: string;
  /** `other` is a link, too. */
  readonly kind: 'file' | 'folder' | 'other';
}

/** An open file. */
export interface PlaceHandle {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface InsideFile extends PlaceHandle {
  /** Bytes. */
  readonly size: number;
  /** Leads other programs of this user to this very file until it is closed; elsewhere than on Linux, to its path. */
  readonly path: string;
}

/**
 * Finds a folder that has certain names in it.
 * @returns `unfinished` for one that lacks some of them, undefined where there is no such folder to be gone into
 */
export type FindFolder = (
  segments: readonly string[],
  has: readonly string[],
) => Promise<FolderPlace | 'unfinished' | undefined>;
