/** The interface of an index: its resources and passages, and how to fill and ask it, whichever database keeps it. */
import type { IndexFigures } from '../core/ranked.ts';
import type { Question } from './question.ts';
import type { Place } from './ranking.ts';

/** The most kinds of resources. Each kind has a table of words of its own; resources of further kinds have no text there. */
export const MAX_KINDS = 64;

/** A resource as it is put into the index. */
export interface Entry {
  readonly uri: string;
  readonly parent: string | undefined;
  readonly mount: string;
  readonly container: boolean;
  /** Resources that access rules treat alike have the same kind. */
  readonly kind: string;
  /** Stays the same while the resource does not change; undefined if changes cannot be told. */
  readonly version: string | undefined;
  readonly type: string | undefined;
  readonly name: string;
  readonly title: string;
  /** Names from the mount down to it, joined by slashes. */
  readonly path: string;
  readonly changed: string | undefined;
  readonly size: number | undefined;
  /** Why the index does not have its text. */
  readonly problem: string | undefined;
  readonly passages: readonly EntryPassage[];
}

export interface EntryPassage {
  readonly headings: readonly string[];
  readonly page: number | undefined;
  /** Undefined if there is no text. */
  readonly lines: { readonly first: number; readonly last: number } | undefined;
  /** The place of its bytes in the resource, if the text is there unchanged. */
  readonly bytes: { readonly offset: number; readonly length: number } | undefined;
  readonly text: string;
}

/** A resource that is in the index. */
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
  /** Opens the index, and begins it anew if needed. @throws SqlFault `locked` if another server has it */
  open(): Promise<void>;
  /** Set if several servers have the index at the same time. */
  readonly sharing?: Sharing | undefined;
  /** The bytes that may still be added; 0 or less if the index is full. */
  readonly room: number;
  known(uris: readonly string[]): Promise<ReadonlyMap<string, Known>>;
  childrenOf(parent: string | undefined, mount: string): Promise<readonly Known[]>;
  /** Writes resources, replacing what the index has of them: all or none. */
  put(entries: readonly Entry[]): Promise<void>;
  /** Removes resources, with all below them. */
  remove(ids: readonly number[]): Promise<void>;
  /** Removes the resources of all other mounts. */
  keepMounts(mounts: readonly string[]): Promise<void>;
  /** Returns each kind with the URI of one of its resources. */
  kinds(): Promise<readonly { readonly id: number; readonly key: string; readonly uri: string }[]>;
  /** Gives the places that fit, best first, one of each resource. @param kinds the numbers of kinds to search @throws SqlFault */
  find(question: Question, kinds: readonly number[]): AsyncGenerator<Place>;
  figures(): Promise<IndexFigures>;
  /** Returns the figures of an index that is not open, and may be another server's; undefined if there is none. */
  look(): Promise<IndexFigures | undefined>;
  /** Discards the content, so that the index begins anew. */
  discard(): Promise<void>;
  close(): Promise<void>;
}

/** How servers share an index: one of them writes, the others only ask. */
export interface Sharing {
  /** Whether this server is the one that writes, or becomes it now. @throws SqlFault */
  lead(): Promise<boolean>;
  /** Whether the index has been complete once. */
  whole(): Promise<boolean>;
  /** Notes that the index is complete. */
  setWhole(): Promise<void>;
}
