/** Turns the entries of feeds (RSS, Atom, JSON Feed) into resources. */
import type { FeedEntry } from './readings.ts';
import type { Target } from './target.ts';

/** The most bytes of a feed. */
export const MAX_FEED_BYTES = 2 * 1024 * 1024;

/** The resource of an entry of a feed. */
export interface FeedTarget extends Target {
  /** The time of the entry in milliseconds since 1970; 0 if the feed gives none. */
  readonly time: number;
}

/** Makes the resources of a feed, in order. They are requested with the headers and query parameters of the feed. */
export const feedTargets = (feed: Target, entries: readonly FeedEntry[]): readonly FeedTarget[] =>
  [...entries]
    .sort(inOrder)
    .map((entry) => ({ ...entry, url: new URL(entry.url), access: feed.access, head: false, feed: false }));

/** Sorts the latest entry first, and then by URI, so that a position still counts when entries come and go. */
export const inOrder = (a: { time: number; uri: string }, b: { time: number; uri: string }): number =>
  b.time - a.time || (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0);
