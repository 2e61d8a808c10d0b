/** The kinds of containers: which files those are, and how they are opened. */
import type { Log } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';

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

export interface PlaceHandle {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

/** The provider around, and how to find what it has. */
export interface Outer {
  readonly provider: ResourceProvider;
  /** Of its URIs, which are paths with slashes. */
  readonly scheme: string;
  /** @returns undefined for what is missing, not shown, or a folder */
  place(segments: readonly string[]): Promise<Place | undefined>;
  /** Whether a file or folder of this path would be shown: that holds in archives, too. Default: anything is. */
  readonly shows?: ((segments: readonly string[], isDirectory: boolean) => Promise<boolean>) | undefined;
}

export interface Opening {
  readonly place: Place;
  /** The file's name. */
  readonly name: string;
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

export interface NestedKind {
  readonly key: string;
  /** How the names of such files end, in lower case; upper case counts as well. */
  readonly endings: readonly string[];
  /** The bytes that it begins with. Default: its name is enough. */
  readonly magic?: Buffer | undefined;
  /** It holds files and folders: the rules for names apply to them as to others. */
  readonly hasFiles?: boolean | undefined;
  /** It notices its changes itself, and need not be opened anew. Default: it is opened for each state of the file. */
  readonly follows?: boolean | undefined;
  /** The content under one of its URIs tells of other resources. */
  readonly gathers?: boolean | undefined;
  /** @throws ResourceError that says what is wrong with it */
  open(opening: Opening): Promise<Inner>;
}
