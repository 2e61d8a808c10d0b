/**
 * Avoids scoring passages that cannot be among the best. If enough passages have the rare words of a question, a passage that
 * has only its common words is worse than all of these. Finding a passage is quick; scoring it takes some fifty times as long.
 */

/** The highest score that BM25 of FTS5 gives for a word, divided by its weight. */
const MOST = 2.2;

/** Scoring this many passages is so quick that it need not be avoided. */
const CHEAP = 1_000;

/** The most passages that are scored if they have only words without weight: none of them is much better than another. */
export const MOST_WITHOUT_WEIGHT = 5_000;

/** The weight of a word that more than half of the passages have. */
const NO_WEIGHT = 1e-6;

/**
 * Returns the weight of a word, as BM25 of FTS5 has it: next to nothing if more than half of the passages have the word.
 * @param all the number of passages
 * @param having the number of passages that have the word
 */
export const weight = (all: number, having: number): number =>
  Math.max(NO_WEIGHT, Math.log((all - having + 0.5) / (having + 0.5)));

export interface CountedTerm {
  readonly expression: string;
  /** The number of passages that have it. */
  readonly count: number;
  /** Whether the count gives the weight. It does not for a term with several forms, each of which has its own weight. */
  readonly isOne: boolean;
}

/** A way to look for the best passages. */
export interface Attempt {
  /** The expression of the passages that are scored. */
  readonly match: string;
  /** A further expression that they must match; undefined for none. */
  readonly within?: string | undefined;
  /** Each score is this many times the score for the whole question. */
  readonly times: 1 | 2;
  /** The most passages that are scored; undefined for all that are found. */
  readonly most?: number | undefined;
  /**
   * If the attempt gives as many passages as are wanted, and none scores less than this, they are the best. Undefined if the
   * attempt always gives the best.
   */
  readonly bound?: number | undefined;
  /** Finds further passages if the attempt gives fewer than are wanted. */
  readonly rest?: Attempt | undefined;
}

/**
 * Returns ways to look for the best passages that have one of the terms, to be tried one after the other.
 * @param all the number of passages
 * @param wanted how many passages are wanted
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

/** Returns the way to look for the best passages that have every term. @param all the number of passages */
export function attemptAtAll(terms: readonly CountedTerm[], all: number): Attempt {
  const { telling, frequent } = apart(terms, all);
  const match = allOf(terms);
  if (frequent.length === 0) return { match, times: 1 };
  if (telling.length === 0) return { match, times: 1, most: MOST_WITHOUT_WEIGHT };
  return { match: allOf(telling), within: match, times: 1 };
}

/**
 * Separates the terms that tell one passage from another from those that too many passages have. FTS5 counts each word that it
 * scores by again in each statement, which for frequent words takes longer than all the rest.
 */
function apart(
  terms: readonly CountedTerm[],
  all: number,
): { readonly telling: readonly CountedTerm[]; readonly frequent: readonly CountedTerm[] } {
  const isFrequent = ({ isOne, count }: CountedTerm): boolean =>
    isOne && all > MOST_WITHOUT_WEIGHT && weight(all, count) === NO_WEIGHT;
  return { telling: terms.filter((term) => !isFrequent(term)), frequent: terms.filter(isFrequent) };
}

/** Tries passages with the rarest terms first, scored by all terms, and at last all passages. */
function amongRare(terms: readonly CountedTerm[], all: number, wanted: number): readonly Attempt[] {
  const sorted = [...terms].sort((a, b) => Number(a.isOne) - Number(b.isOne) || a.count - b.count);
  const tried: Attempt[] = [];
  let found = 0;
  for (const [at, { count }] of sorted.entries()) {
    found += count;
    const rare = sorted.slice(0, at + 1);
    const others = sorted.slice(at + 1);
    const isSmaller = others.reduce((sum, other) => sum + other.count, 0) > CHEAP;
    if (found < wanted || !isSmaller || !others.every(({ isOne }) => isOne)) continue;
    const bound = MOST * others.reduce((sum, other) => sum + weight(all, other.count), 0);
    // FTS5 skips passages that have none of the rare terms. These are in the expression twice and so count twice, so the others
    // must be in it twice, too.
    tried.push({ match: `(${anyOf(rare)}) AND (${anyOf([...rare, ...others, ...others])})`, times: 2, bound });
  }
  return [...tried, { match: anyOf(sorted), times: 1 }];
}

const anyOf = (terms: readonly CountedTerm[]): string => terms.map(({ expression }) => expression).join(' OR ');
const allOf = (terms: readonly CountedTerm[]): string => terms.map(({ expression }) => expression).join(' AND ');
