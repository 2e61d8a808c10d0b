/**
 * Passages that cannot be among the best are not scored: where rare words give enough of them, one that has only common words
 * is worse than all of these, whatever it has. To find passages is quick; to score one takes some fifty times as long.
 */

/** The most that BM25 of FTS5 gives for a word, in parts of its weight. */
const MOST = 2.2;

/** As many passages are scored without further thought. */
const CHEAP = 1_000;

/** The weight of a word, as BM25 of FTS5 has it: where more than half have the word, next to nothing. */
export const weight = (all: number, having: number): number =>
  Math.max(1e-6, Math.log((all - having + 0.5) / (having + 0.5)));

export interface CountedTerm {
  readonly expression: string;
  /** Passages that have it. */
  readonly count: number;
  /** Whether the weight is that of the count: of several forms, each has its own. */
  readonly isOne: boolean;
}

/** A way to look for the best. */
export interface Attempt {
  /** Only passages that have something of this are scored; all where it is undefined. */
  readonly among: string | undefined;
  /** It has found the best when its last one is no worse than this. */
  readonly bound: number;
}

const EVERYTHING: Attempt = { among: undefined, bound: 0 };

/** Ways to look for as many passages, of which one after the other is tried. @param all passages that there are */
export function attempts(terms: readonly CountedTerm[], all: number, wanted: number): readonly Attempt[] {
  const sorted = [...terms].sort((a, b) => Number(a.isOne) - Number(b.isOne) || a.count - b.count);
  const tried: Attempt[] = [];
  let found = 0;
  for (const [at, { count }] of sorted.entries()) {
    found += count;
    const others = sorted.slice(at + 1);
    const isSmaller = others.reduce((sum, other) => sum + other.count, 0) > CHEAP;
    if (found < wanted || !isSmaller || !others.every(({ isOne }) => isOne)) continue;
    const among = sorted.slice(0, at + 1).map(({ expression }) => expression);
    const bound = MOST * others.reduce((sum, other) => sum + weight(all, other.count), 0);
    tried.push({ among: among.join(' OR '), bound });
  }
  return [...tried, EVERYTHING];
}
