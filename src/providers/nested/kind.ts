/** The kinds of containers, such as archives: how their files are recognised, and how they are opened. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { FindFolder, FolderPlace, PlaceHandle } from '../folder-place.ts';

export type { FolderPlace } from '../folder-place.ts';

/** A file of the outer provider, as found. */
export interface FilePlace {
  /** Bytes. */
  readonly size: number;
  /** The identity of the file: a file that replaces it has another one. */
  readonly file: string;
  /** The state of the file: it differs after each change. */
  readonly state: string;
  /** The canonical path; undefined where it is not on disk. */
  readonly path?: string | undefined;
  open(): Promise<PlaceHandle>;
}

/** The outer provider, and functions that find its files. */
export interface Outer {
  readonly provider: ResourceProvider;
  /** The scheme of its URIs, which are paths with slashes. */
  readonly scheme: string;
  /** @returns undefined for a file that is missing or hidden, and for a folder */
  place(segments: readonly string[]): Promise<FilePlace | undefined>;
  /** Finds a folder. Default: there are none. */
  readonly folder?: FindFolder;
  /** Whether a file or folder of this path would be shown; the rule applies inside archives too. Default: all are shown. */
  readonly shows?: ((segments: readonly string[], isDirectory: boolean) => Promise<boolean>) | undefined;
}

export interface Opening<P = FilePlace> {
  readonly place: P;
  /** The name of the file or folder. */
  readonly name: string;
  /** The URI of the container in the outer provider. */
  readonly uri: string;
  /** Identifies the container in its present state among all that are open. */
  readonly key: string;
  readonly log: Log;
}

export interface Inner {
  readonly provider: ResourceProvider;
  /** The scheme of its URIs: all begin with `scheme:///`. */
  readonly scheme: string;
  /** Approximate bytes of memory that it takes. */
  readonly weight: number;
}

interface KindFacts {
  readonly key: string;
  /** The endings of names of such files or folders, written here in lower case. Names in upper case match as well. */
  readonly endings: readonly string[];
  /** Whether an open container notices changes of its file. Default: no, so it is opened again for each state of the file. */
  readonly follows?: boolean | undefined;
  /** Whether the content under one of its URIs may include other resources. */
  readonly gathers?: boolean | undefined;
}

export interface FileKind extends KindFacts {
  readonly isFolder?: undefined;
  /** The first bytes of such a file. Default: the name is enough. */
  readonly magic?: Buffer | undefined;
  /** Whether it holds files and folders, so that the rules for names apply to them. */
  readonly hasFiles?: boolean | undefined;
  /** @throws ResourceError that says what is wrong with the container */
  open(opening: Opening): Promise<Inner>;
}

/**
 * A folder that is opened as a container in place of its plain content, such as a git repository. Rules for names apply
 * to its files as they apply to files beside it.
 */
export interface FolderKind extends KindFacts {
  readonly isFolder: true;
  /**
   * The name that marks such a folder as part of its parent, such as `.git`. It then holds versions of the parent's files, and is the
   * last entry in the parent's list.
   */
  readonly nameInParent: string;
  readonly title: string;
  /** The names of entries by which such a folder is recognised. */
  readonly has: readonly string[];
  /** Returns the path of the file that a path in the container shows; empty if it shows no file, undefined if it is invalid. */
  readonly pathBelow: (segments: readonly string[]) => readonly string[] | undefined;
  /** @throws ResourceError that says what is wrong with the container */
  open(opening: Opening<FolderPlace>): Promise<Inner>;
}

export type NestedKind = FileKind | FolderKind;
