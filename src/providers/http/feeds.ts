/** Entries of feeds (RSS, Atom, JSON Feed) as resources. */
import type { FeedEntry } from './readings.ts';
import type { Target } from './target.ts';

/** The most bytes of a feed. */
export const MAX_FEED_BYTES = 2 * 1024 * 1024;

/** A resource of a feed, and when it is from. */
export interface FeedTarget extends Target {
  readonly time: number;
}

/** Entries as resources: what is asked for them is asked as for the feed. */
export const feedTargets = (feed: Target, entries: readonly FeedEntry[]): readonly FeedTarget[] =>
  [...entries]
    .sort(inOrder)
    .map((entry) => ({ ...entry, url: new URL(entry.url), access: feed.access, head: false, feed: false }));

/** The latest first, and then by URI: a place that stays one when entries come and go. */
export const inOrder = (a: { time: number; uri: string }, b: { time: number; uri: string }): number =>
  b.time - a.time || (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0);
