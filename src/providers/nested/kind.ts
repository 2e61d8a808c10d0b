/** The kinds of containers: which files those are, and how they are opened. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { FindFolder, FolderPlace, PlaceHandle } from '../folder-place.ts';

export type { FolderPlace } from '../folder-place.ts';

/** A file of the provider around it, as it was found. */
export interface Place {
  /** Bytes. */
  readonly size: number;
  /** Which file it is: what is put in its place is another one. */
  readonly file: string;
  /** Its state: another one after each change of it. */
  readonly state: string;
  /** Canonical; undefined where it is not on the disk. */
  readonly path?: string | undefined;
  open(): Promise<PlaceHandle>;
}

/** The provider around, and how to find what it has. */
export interface Outer {
  readonly provider: ResourceProvider;
  /** Of its URIs, which are paths with slashes. */
  readonly scheme: string;
  /** @returns undefined for what is missing, not shown, or a folder */
  place(segments: readonly string[]): Promise<Place | undefined>;
  /** Default: there are none. */
  readonly folder?: FindFolder;
  /** Whether a file or folder of this path would be shown: that holds in archives, too. Default: anything is. */
  readonly shows?: ((segments: readonly string[], isDirectory: boolean) => Promise<boolean>) | undefined;
}

export interface Opening<P = Place> {
  readonly place: P;
  /** The name of the file or folder. */
  readonly name: string;
  /** Its own URI, in the provider around. */
  readonly uri: string;
  /** The same for as long as it is in the same state: names it beside all others that are open. */
  readonly key: string;
  readonly log: Log;
}

export interface Inner {
  readonly provider: ResourceProvider;
  /** Of its URIs: all of them begin with `scheme:///`. */
  readonly scheme: string;
  /** Bytes of memory that it takes, about. */
  readonly weight: number;
}

interface KindFacts {
  readonly key: string;
  /** How the names of such files or folders end, in lower case; upper case counts as well. */
  readonly endings: readonly string[];
  /** It notices its changes itself, and need not be opened anew. Default: it is opened for each state of the file. */
  readonly follows?: boolean | undefined;
  /** The content under one of its URIs tells of other resources. */
  readonly gathers?: boolean | undefined;
}

export interface FileKind extends KindFacts {
  readonly isFolder?: undefined;
  /** The bytes that it begins with. Default: its name is enough. */
  readonly magic?: Buffer | undefined;
  /** It holds files and folders: the rules for names apply to them as to others. */
  readonly hasFiles?: boolean | undefined;
  /** @throws ResourceError that says what is wrong with it */
  open(opening: Opening): Promise<Inner>;
}

/**
 * A folder that is gone into as something else, in place of what lies in it. It has files of its own, and what is shown of
 * them is what would be shown of files beside it.
 */
export interface FolderKind extends KindFacts {
  readonly isFolder: true;
  /** The name of one that belongs to the folder around it, where it is the last entry: its files are those of that folder. */
  readonly own: string;
  readonly title: string;
  /** The names that it has in it. */
  readonly has: readonly string[];
  /** The path of the files that is shown under a path in it; empty for none in particular, undefined for what is no path. */
  readonly pathBelow: (segments: readonly string[]) => readonly string[] | undefined;
  /** @throws ResourceError that says what is wrong with it */
  open(opening: Opening<FolderPlace>): Promise<Inner>;
}

export type NestedKind = FileKind | FolderKind;
