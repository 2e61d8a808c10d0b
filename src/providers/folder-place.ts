/** A folder that is opened as a container, such as a git repository. One provider finds the folder, another reads it. */

export interface FolderPlace {
  /** The identity of the folder: a folder that replaces it has another one. */
  readonly file: string;
  /** The canonical path; never leaves the server. */
  readonly path: string;
  readonly inside: Inside;
}

/** Reads names and files in a folder as they are at that moment, and never through a link. */
export interface Inside {
  /** Returns the names in a folder below; undefined where there is none. @throws ResourceError `too-large` */
  entries(path: readonly string[]): Promise<readonly InsideEntry[] | undefined>;
  /** Opens a file below; the caller closes it. Undefined where there is none. */
  open(path: readonly string[]): Promise<InsideFile | undefined>;
}

export interface InsideEntry {
  readonly name: string;
  /** A link is `other`. */
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
  /** A path by which other programs of this user open this very file until it is closed; outside Linux, its plain path. */
  readonly path: string;
}

/**
 * Finds a folder with certain names in it.
 * @returns `unfinished` for a folder that lacks some of them, undefined where there is no folder
 */
export type FindFolder = (
  segments: readonly string[],
  has: readonly string[],
) => Promise<FolderPlace | 'unfinished' | undefined>;
