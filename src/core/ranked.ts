/** Ranked search: an index finds the best places for a question in words. What is shown of them is read like anything else. */
import type { AccessOutline } from './access.ts';
import type { Context } from './context.ts';
import type { Mount } from './mounts/mount.ts';
import type { Operations } from './operations.ts';
import type { Passage } from './passage.ts';
import type { SearchMatch } from './provider.ts';

/** A question as its caller typed it. */
export interface RankedQuery {
  /** Words, "phrases", prefix*, NEAR(words, 5), and filters such as `type:pdf`. */
  readonly text: string;
  /** The resource, or folder, that is searched; everything when undefined. */
  readonly uri?: string | undefined;
  /** On paths below the mount; one without a slash matches names at any depth. */
  readonly glob?: string | undefined;
  /**
   * The text is the beginnings of words, all of which are in the title or the name. Found is only what the index knows by itself
   * that the caller may read.
   */
  readonly byName?: boolean | undefined;
}

/** A match of a ranked search. */
export interface RankedMatch extends SearchMatch {
  readonly passage: Passage;
}

/** Sums of an index, without a word of what is in it. */
export interface IndexFigures {
  readonly resources: number;
  readonly passages: number;
  readonly bytes: number;
  /** Resources whose text is not in it, by the reason. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** How an index is now. */
export interface IndexState extends IndexFigures {
  /** `building` answers with what is there so far; `down` not at all. */
  readonly state: 'opening' | 'building' | 'ready' | 'down';
  /** Why, where it is down. */
  readonly reason?: string | undefined;
}

export interface RankedSearch {
  /**
   * The best places, best first, one of each resource; of these the caller may read what is not `unsure`.
   * @throws ResourceError `invalid` for a question that cannot be understood, `unavailable` where there is no index now
   */
  find(query: RankedQuery, ctx: Context): AsyncIterable<RankedMatch>;
  state(): IndexState;
  /** Resolves when everything that was there is in it, or it is down. */
  settled(): Promise<void>;
  /** The served mounts have changed. */
  changed(): void;
  /** Ends watches, and closes the files. */
  close(): Promise<void>;
}

/** Whether it can be asked now. */
export function isAnswering(index: RankedSearch | undefined): index is RankedSearch {
  const state = index?.state().state;
  return state === 'ready' || state === 'building';
}

/** The parts of an engine that an index works with. */
export interface IndexContext {
  /** All mounts, below access: what it gives is redacted, and no caller's. */
  readonly provider: Operations;
  readonly mounts: () => readonly Mount[];
  readonly mountOf: (uri: string) => string | undefined;
  /** The settings that the texts depend on: with others the index is built anew. */
  readonly settings: string;
  readonly access: Pick<AccessOutline, 'kindOf' | 'mayRead' | 'everything'> | undefined;
}

/** An index that belongs to no engine yet, as `createIndex` of `vitrine/search` makes it. */
export interface RankedIndex {
  /** Begins to fill it. */
  begin(context: IndexContext): RankedSearch;
  /** Gives the sums of the index, as whichever server has it left it; undefined where there is none. @throws ResourceError `unavailable` */
  look(): Promise<IndexFigures | undefined>;
}
