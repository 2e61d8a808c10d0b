/** Declares ranked search: an index finds the best places for a query in words. The text at these places is read from the resources. */
import type { AccessOutline } from './access.ts';
import type { Context } from './context.ts';
import type { Mount } from './mounts/mount.ts';
import type { Operations } from './operations.ts';
import type { Passage } from './passage.ts';
import type { SearchMatch } from './provider.ts';

/** A query as its caller typed it. */
export interface RankedQuery {
  /** Words, "phrases", prefix*, NEAR(words, 5), and filters such as `type:pdf`. */
  readonly text: string;
  /** The resource or folder that is searched. Default: everything. */
  readonly uri?: string | undefined;
  /** Limits the search to matching paths below the mount; a glob without a slash matches names at any depth. */
  readonly glob?: string | undefined;
  /**
   * Whether each word of the text is the beginning of a word that must be in the title or the name. The search then finds only
   * resources of which the index itself can tell that the caller may read them.
   */
  readonly byName?: boolean | undefined;
}

/** A match of a ranked search. */
export interface RankedMatch extends SearchMatch {
  readonly passage: Passage;
}

/** Totals of an index, which reveal none of its texts. */
export interface IndexFigures {
  readonly resources: number;
  readonly passages: number;
  readonly bytes: number;
  /** The number of resources whose text is not in the index, by reason. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** The state of an index. */
export interface IndexState extends IndexFigures {
  /** While `building`, it finds what has been indexed so far; while `opening` or `down`, it does not answer. */
  readonly state: 'opening' | 'building' | 'ready' | 'down';
  /** Why it is `down`. */
  readonly reason?: string | undefined;
}

export interface RankedSearch {
  /**
   * Gives the best places, best first, one for each resource. The caller may read all of them, except that those with `unsure`
   * must be checked first.
   * @throws ResourceError `invalid` for a query that cannot be parsed, `unavailable` while the index does not answer
   */
  find(query: RankedQuery, ctx: Context): AsyncIterable<RankedMatch>;
  state(): IndexState;
  /** Resolves when all resources that existed at the start are indexed, or the index is down. */
  settled(): Promise<void>;
  /** Tells the index that the served mounts have changed. */
  changed(): void;
  /** Ends watches, and closes the files. */
  close(): Promise<void>;
}

/** Whether the index answers now. */
export function isAnswering(index: RankedSearch | undefined): index is RankedSearch {
  const state = index?.state().state;
  return state === 'ready' || state === 'building';
}

/** The parts of an engine that an index uses. */
export interface IndexContext {
  /** All mounts, with redaction but without access control: the index reads for no particular caller. */
  readonly provider: Operations;
  readonly mounts: () => readonly Mount[];
  readonly mountOf: (uri: string) => string | undefined;
  /** The settings that the texts depend on. When they differ from those of the last build, the index is built again. */
  readonly settings: string;
  readonly access: Pick<AccessOutline, 'kindOf' | 'mayRead' | 'everything'> | undefined;
}

/** An index that has not been given to an engine yet, as `createIndex` of `vitrine/search` returns it. */
export interface RankedIndex {
  /** Begins to fill the index. */
  begin(context: IndexContext): RankedSearch;
  /**
   * Returns the totals of the index as a server last wrote them, without filling it; undefined if no index has been written.
   * @throws ResourceError `unavailable` if it cannot be opened
   */
  look(): Promise<IndexFigures | undefined>;
}
