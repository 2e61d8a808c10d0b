/** The resources and passages that an index has, and how it is filled and asked, whichever database keeps it. */
import type { IndexFigures } from '../core/ranked.ts';
import type { Question } from './question.ts';
import type { Place } from './ranking.ts';

/** Kinds of resources that have words of their own; what is of more kinds is left out. */
export const MAX_KINDS = 64;

/** A resource as it is put into the index. */
export interface Entry {
  readonly uri: string;
  readonly parent: string | undefined;
  readonly mount: string;
  readonly container: boolean;
  /** Resources about which the same is decided have the same. */
  readonly kind: string;
  /** The same as long as the resource is; undefined where nobody can tell. */
  readonly version: string | undefined;
  readonly type: string | undefined;
  readonly name: string;
  readonly title: string;
  /** Names from the mount down to it, joined by slashes. */
  readonly path: string;
  readonly changed: string | undefined;
  readonly size: number | undefined;
  /** Why its text is not there. */
  readonly problem: string | undefined;
  readonly passages: readonly EntryPassage[];
}

export interface EntryPassage {
  readonly headings: readonly string[];
  readonly page: number | undefined;
  /** Undefined where there is no text. */
  readonly lines: { readonly first: number; readonly last: number } | undefined;
  /** The place of its bytes in the resource, if it stands there as it is. */
  readonly bytes: { readonly offset: number; readonly length: number } | undefined;
  readonly text: string;
}

/** A resource that the index has. */
export interface Known {
  readonly id: number;
  readonly uri: string;
  readonly version: string | undefined;
  readonly container: boolean;
  readonly kind: string;
  readonly parent: string | undefined;
  readonly path: string;
}

export interface IndexStore {
  /** Opens it, and begins it anew where that is needed. @throws SqlFault `locked` where another server has it */
  open(): Promise<void>;
  /** Of an index that several servers have at a time. */
  readonly sharing?: Sharing | undefined;
  /** The bytes that may still be put in; none, or less, when it is full. */
  readonly room: number;
  known(uris: readonly string[]): Promise<ReadonlyMap<string, Known>>;
  childrenOf(parent: string | undefined, mount: string): Promise<readonly Known[]>;
  /** Puts resources in, in the place of what it has of them, all or none. */
  put(entries: readonly Entry[]): Promise<void>;
  /** Takes resources out, with all below them. */
  remove(ids: readonly number[]): Promise<void>;
  /** Takes out what is of no such mount. */
  keepMounts(mounts: readonly string[]): Promise<void>;
  /** Each kind with the URI of one of its resources. */
  kinds(): Promise<readonly { readonly id: number; readonly key: string; readonly uri: string }[]>;
  /** The places that fit, best first, one of each resource. @param kinds those that may be asked @throws SqlFault */
  find(question: Question, kinds: readonly number[]): AsyncGenerator<Place>;
  figures(): Promise<IndexFigures>;
  /** The same of an index that is not open, and may be another server's; undefined where there is none. */
  look(): Promise<IndexFigures | undefined>;
  /** Puts the file aside: what comes next begins anew. */
  discard(): Promise<void>;
  close(): Promise<void>;
}

/** One of the servers writes; the others only ask. */
export interface Sharing {
  /** Whether this server is the one that writes, or becomes it now. @throws SqlFault */
  lead(): Promise<boolean>;
  /** Whether everything that was there has been in it. */
  whole(): Promise<boolean>;
  setWhole(): Promise<void>;
}
