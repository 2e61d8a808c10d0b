/**
 * Passages that cannot be among the best are not scored: where rare words give enough of them, one that has only common words
 * is worse than all of these, whatever it has. To find passages is quick; to score one takes some fifty times as long.
 */

/** The most that BM25 of FTS5 gives for a word, in parts of its weight. */
const MOST = 2.2;

/** As many passages are scored without further thought. */
const CHEAP = 1_000;

/** Of passages that have only words without weight, none is much better than another: as many are scored. */
export const MOST_WITHOUT_WEIGHT = 5_000;

/** The weight of a word that more than half have. */
const NO_WEIGHT = 1e-6;

/** The weight of a word, as BM25 of FTS5 has it: where more than half have the word, next to nothing. */
export const weight = (all: number, having: number): number =>
  Math.max(NO_WEIGHT, Math.log((all - having + 0.5) / (having + 0.5)));

export interface CountedTerm {
  readonly expression: string;
  /** Passages that have it. */
  readonly count: number;
  /** Whether the weight is that of the count: of several forms, each has its own. */
  readonly isOne: boolean;
}

/** A way to look for the best. */
export interface Attempt {
  /** The expression of the passages that are scored. */
  readonly match: string;
  /** Only those of them are that this expression finds; all where it is undefined. */
  readonly within?: string | undefined;
  /** Each gets this many times what the whole question would give. */
  readonly times: 1 | 2;
  /** Passages that are scored at most; all that are found where it is undefined. */
  readonly most?: number | undefined;
  /** It has found the best when it gives as many as are wanted, the last no worse than this; undefined for all that there are. */
  readonly bound?: number | undefined;
  /** Finds the others, when it gives fewer than are wanted. */
  readonly rest?: Attempt | undefined;
}

/**
 * Ways to look for as many passages that have one of the terms, of which one after the other is tried.
 * @param all passages that there are
 */
export function attempts(terms: readonly CountedTerm[], all: number, wanted: number): readonly Attempt[] {
  const { telling, frequent } = apart(terms, all);
  if (frequent.length === 0) return amongRare(telling, all, wanted);
  const most = MOST_WITHOUT_WEIGHT;
  if (telling.length === 0) return [{ match: anyOf(frequent), times: 1, most }];
  const rest: Attempt = { match: `(${anyOf(frequent)}) NOT (${anyOf(telling)})`, times: 1, most };
  return amongRare(telling, all, wanted).map((attempt) =>
    attempt.bound === undefined ? { ...attempt, rest } : attempt,
  );
}

/** The way to look for the best of those that have every term. @param all passages that there are */
export function attemptAtAll(terms: readonly CountedTerm[], all: number): Attempt {
  const { telling, frequent } = apart(terms, all);
  const match = allOf(terms);
  if (frequent.length === 0) return { match, times: 1 };
  if (telling.length === 0) return { match, times: 1, most: MOST_WITHOUT_WEIGHT };
  return { match: allOf(telling), within: match, times: 1 };
}

/**
 * Terms that tell one passage from another, and those that so many have that they do not. To score by a word, FTS5 counts it
 * again for each statement, which for those takes longer than all the rest.
 */
function apart(
  terms: readonly CountedTerm[],
  all: number,
): { readonly telling: readonly CountedTerm[]; readonly frequent: readonly CountedTerm[] } {
  const isFrequent = ({ isOne, count }: CountedTerm): boolean =>
    isOne && all > MOST_WITHOUT_WEIGHT && weight(all, count) === NO_WEIGHT;
  return { telling: terms.filter((term) => !isFrequent(term)), frequent: terms.filter(isFrequent) };
}

/** First those that have the rarest terms, scored by all of them; at last all. */
function amongRare(terms: readonly CountedTerm[], all: number, wanted: number): readonly Attempt[] {
  const sorted = [...terms].sort((a, b) => Number(a.isOne) - Number(b.isOne) || a.count - b.count);
  const tried: Attempt[] = [];
  let found = 0;
  for (const [at, { count }] of sorted.entries()) {
    found += count;
    const some = sorted.slice(0, at + 1);
    const others = sorted.slice(at + 1);
    const isSmaller = others.reduce((sum, other) => sum + other.count, 0) > CHEAP;
    if (found < wanted || !isSmaller || !others.every(({ isOne }) => isOne)) continue;
    const bound = MOST * others.reduce((sum, other) => sum + weight(all, other.count), 0);
    // FTS5 steps over what has none of the first. They stand there twice, which counts twice; so do the others, then.
    tried.push({ match: `(${anyOf(some)}) AND (${anyOf([...some, ...others, ...others])})`, times: 2, bound });
  }
  return [...tried, { match: anyOf(sorted), times: 1 }];
}

const anyOf = (terms: readonly CountedTerm[]): string => terms.map(({ expression }) => expression).join(' OR ');
const allOf = (terms: readonly CountedTerm[]): string => terms.map(({ expression }) => expression).join(' AND ');
