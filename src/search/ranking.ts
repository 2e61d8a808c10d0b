/**
 * Finds the places that fit a question, best first. Searches each kind of resources by itself, and only kinds that the caller
 * may search. The scores of several kinds are put on one scale, by how rare a word is in all of them together.
 */
import type { Count } from './counts.ts';
import { filterSql } from './filter-sql.ts';
import { type Attempt, attemptAtAll, attempts, type CountedTerm, weight } from './pruning.ts';
import { expressionOf, type Filters, matchOf, type Question } from './question.ts';
import { wordsTable } from './schema.ts';
import type { Rows, ScoredKind, ScoredWords, SqlValue, Statement } from './thread.ts';

/** How many passages of each list are looked at, round after round. Passages beyond the last number are not found. */
const ROUNDS = [50, 400, 3_200] as const;

/** The weight of each further passage of a resource, as a fraction of the weight of the passage before it. */
const FURTHER = 0.1;

/** The same fraction for passages that have all terms, and the fraction of their score that is added because they have all. */
const FURTHER_OF_ALL = 0.5;
const ALL_THERE = 0.3;

/** How the two lists of a question count in the rank of a resource: the passages with some of its terms, and those with all. */
export const SOME = { scale: 1, further: FURTHER } as const;
export const ALL = { scale: ALL_THERE, further: FURTHER_OF_ALL } as const;

export interface Place {
  readonly uri: string;
  readonly path: string;
  readonly kind: number;
  readonly heading: string | undefined;
  readonly page: number | undefined;
  readonly lines: { readonly first: number; readonly last: number } | undefined;
  readonly bytes: { readonly offset: number; readonly length: number } | undefined;
  /** The size of the resource, and the time of its last change, when it was read. */
  readonly size: number | undefined;
  readonly changed: string | undefined;
}

export interface Scored extends Place {
  readonly chunk: number;
  /** Higher is better. */
  readonly score: number;
}

/** The passages of one kind that have some of the terms, or all of them. */
interface List {
  readonly kind: number;
  readonly scale: number;
  /** Returns ways to find the best of them. */
  readonly attempts: (limit: number) => readonly Attempt[];
}

/** The ways to ask an index. */
export interface IndexAccess {
  /** Runs statements on one state of the database. */
  readonly ask: (statements: readonly Statement[]) => Promise<readonly Rows[]>;
  readonly count: Count;
  /** Scores words by their lists; `null` if FTS5 has to do that. */
  readonly score?: ((words: ScoredWords) => Promise<readonly ScoredKind[] | null>) | undefined;
}

/** @param kinds the numbers of the kinds that the caller may search */
export async function* rank(index: IndexAccess, question: Question, kinds: readonly number[]): AsyncGenerator<Place> {
  if (kinds.length === 0) return;
  const hasAll = question.terms.filter(({ required }) => !required).length > 1;
  const lists = kinds.flatMap(() => (hasAll ? [SOME, ALL] : [SOME]));
  const words = plainWords(question);
  let byStatements: ReturnType<typeof listsByStatements> | undefined;
  yield* bestFirst(lists, async (limit) => {
    const scored = words && (await index.score?.({ kinds, terms: words, limit, columns: COLUMNS_OF }));
    if (scored) return listsByScores(scored, kinds, hasAll);
    byStatements ??= listsByStatements(index, question, kinds, hasAll);
    return (await byStatements)(limit);
  });
}

/** Returns the words of a question that has nothing else, with their forms, since these can be scored without FTS5. */
function plainWords({ terms, filters }: Question): ScoredWords['terms'] | undefined {
  const isPlain = terms.every(
    ({ words, prefix, near, required, byName }) =>
      words.length === 1 && !prefix && near === undefined && !required && byName !== true,
  );
  if (!isPlain || Object.values(filters).some((filter) => filter !== undefined)) return undefined;
  return terms.map(({ words, forms = [] }) => [...words, ...forms]);
}

/** Makes the lists of a question from the scores of its words. */
function listsByScores(
  found: readonly ScoredKind[],
  kinds: readonly number[],
  hasAll: boolean,
): readonly (readonly Scored[])[] {
  const scales = scalesOf(found);
  return found.flatMap(({ some, all, rows }, at) => {
    const list: Rows = JSON.parse(rows);
    const rowOf = new Map(list.map(([passage, ...row]) => [passage, row]));
    const placed = (scores: ScoredKind['some'], factor: number): readonly Scored[] =>
      scores.flatMap(([passage, score]) => {
        const row = rowOf.get(passage);
        const scale = (scales[at] ?? 1) * factor;
        return row === undefined ? [] : scoredOf([passage, score, ...row], { kind: kinds[at] ?? 0, scale });
      });
    return hasAll ? [placed(some, SOME.scale), placed(all, ALL.scale)] : [placed(some, SOME.scale)];
  });
}

/** Makes the same lists with statements of FTS5. */
async function listsByStatements(
  { ask, count }: IndexAccess,
  question: Question,
  kinds: readonly number[],
  hasAll: boolean,
): Promise<(limit: number) => Promise<readonly (readonly Scored[])[]>> {
  const counts = await countsOf(count, question, kinds);
  const scales = scalesOf(counts.map(({ passages, terms }) => ({ passages, counts: terms.map((term) => term.count) })));
  const isRequired = question.terms.some(({ required }) => required);
  const whole: readonly Attempt[] = [{ match: matchOf(question), times: 1 }];
  const lists = kinds.flatMap((kind, at): readonly List[] => {
    const scale = scales[at] ?? 1;
    const { passages = 0, terms = [] } = counts[at] ?? {};
    const ways = isRequired ? () => whole : (limit: number) => attempts(terms, passages, limit);
    const some = { kind, scale, attempts: ways };
    if (!hasAll) return [some];
    const all = attemptAtAll(terms, isRequired ? 0 : passages);
    return [some, { kind, scale: scale * ALL.scale, attempts: () => [all] }];
  });
  const placesBy = async (list: List, attempt: Attempt, limit: number): Promise<readonly Scored[]> => {
    const [rows = []] = await ask([placesOf(question.filters, list.kind, limit, attempt)]);
    const places = rows.flatMap((row) => scoredOf(row, { kind: list.kind, scale: list.scale / attempt.times }));
    if (attempt.rest === undefined || places.length >= limit) return places;
    return [...places, ...(await placesBy(list, attempt.rest, limit - places.length))];
  };
  const bestOf = async (list: List, limit: number): Promise<readonly Scored[]> => {
    for (const attempt of list.attempts(limit)) {
      const places = await placesBy(list, attempt, limit);
      const { bound } = attempt;
      if (bound === undefined || (places.length === limit && (places.at(-1)?.score ?? 0) >= bound * list.scale))
        return places;
    }
    return [];
  };
  return (limit) => Promise.all(lists.map((list) => bestOf(list, limit)));
}

/** Gives the best place of each resource, the best resource first. @param listsOf returns the best passages of each list */
export async function* bestFirst(
  lists: readonly { readonly further: number }[],
  listsOf: (limit: number) => Promise<readonly (readonly Scored[])[]>,
): AsyncGenerator<Place> {
  const yielded = new Set<string>();
  for (const limit of ROUNDS) {
    const found = await listsOf(limit);
    for (const place of merged(found, lists)) {
      if (yielded.has(place.uri)) continue;
      yielded.add(place.uri);
      yield place;
    }
    if (found.every((places) => places.length < limit)) return;
  }
}

/** Returns the best place of each resource, in the order of the scores of all places in a resource. */
function merged(
  found: readonly (readonly Scored[])[],
  lists: readonly { readonly further: number }[],
): readonly Place[] {
  const resources = new Map<string, { total: number; readonly places: Map<number, Scored> }>();
  for (const [at, places] of found.entries()) {
    const further = lists[at]?.further ?? 1;
    const counts = new Map<string, number>();
    for (const place of places) {
      const resource = resources.get(place.uri) ?? { total: 0, places: new Map<number, Scored>() };
      const count = counts.get(place.uri) ?? 0;
      counts.set(place.uri, count + 1);
      resource.total += place.score * further ** count;
      const before = resource.places.get(place.chunk)?.score ?? 0;
      resource.places.set(place.chunk, { ...place, score: place.score + before });
      resources.set(place.uri, resource);
    }
  }
  // Resources with equal scores are in the order of their URIs, which reveals nothing of the index.
  return [...resources]
    .sort(([uri, a], [other, b]) => b.total - a.total || compare(uri, other))
    .flatMap(([, { places }]) =>
      [...places.values()].sort((a, b) => b.score - a.score || a.chunk - b.chunk).slice(0, 1),
    )
    .map(({ score: _score, chunk: _chunk, ...place }) => place);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const PLACE =
  'resource.uri, resource.path, chunk.heading, chunk.page, chunk.first, chunk.last, chunk.offset, chunk.length, resource.size, resource.changed';

const COLUMNS = `found.rowid, -found.rank, ${PLACE}`;

const COLUMNS_OF = `SELECT json_group_array(json_array(chunk.id, ${PLACE})) FROM json_each(?) AS number
  JOIN chunk ON chunk.id = number.value JOIN resource ON resource.id = chunk.resource`;

function placesOf(filters: Filters, kind: number, limit: number, { match, within, most }: Attempt): Statement {
  const table = wordsTable(kind);
  const { sql, parameters } = conditionsOf(filters);
  const joined = 'JOIN chunk ON chunk.id = found.rowid JOIN resource ON resource.id = chunk.resource';
  // The plus signs make SQLite go through the rows in the order of the table of words, and keep the best as they come.
  const inside = within === undefined ? '' : ` AND +found.rowid IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ?)`;
  const scored = `SELECT found.rowid AS rowid, found.rank AS rank FROM ${table} AS found ${sql === '' ? '' : joined}
    WHERE found.${table} MATCH ?${inside}${sql}`;
  const bounded = most === undefined ? scored : `SELECT rowid, rank FROM (${scored} LIMIT ${most})`;
  return [
    `SELECT ${COLUMNS} FROM (${bounded} ORDER BY +rank LIMIT ${limit}) AS found ${joined} ORDER BY found.rank`,
    match,
    ...(within === undefined ? [] : [within]),
    ...parameters,
  ];
}

/** Turns filters into conditions in SQLite's SQL, with their parameters. @throws ResourceError `invalid` */
export function conditionsOf(filters: Filters): { readonly sql: string; readonly parameters: readonly SqlValue[] } {
  const parameters: SqlValue[] = [];
  const parameter = (value: string | number): string => {
    parameters.push(value);
    return '?';
  };
  return { sql: filterSql(filters, 'LIKE', parameter), parameters };
}

/** Makes a scored place of a row. @param row the columns of a place; its kind comes last if the list has several kinds */
export function scoredOf(row: Rows[number], list: { readonly kind?: number; readonly scale: number }): Scored[] {
  const [chunk, score, uri, path, heading, page, first, last, offset, length, size, changed, kind] = row;
  const scored: Scored = {
    chunk: Number(chunk),
    score: Number(score) * list.scale,
    kind: list.kind ?? Number(kind),
    uri: String(uri),
    path: String(path),
    heading: typeof heading === 'string' ? heading : undefined,
    page: typeof page === 'number' ? page : undefined,
    lines: typeof first === 'number' && typeof last === 'number' ? { first, last } : undefined,
    bytes: typeof offset === 'number' && typeof length === 'number' ? { offset, length } : undefined,
    size: typeof size === 'number' ? size : undefined,
    changed: typeof changed === 'string' ? changed : undefined,
  };
  return [scored];
}

/** How many passages a kind has, and how many of them have each term. */
interface Counts {
  readonly passages: number;
  readonly terms: readonly CountedTerm[];
}

async function countsOf(count: Count, { terms }: Question, kinds: readonly number[]): Promise<readonly Counts[]> {
  const expressions = terms.map((term) => ({ expression: expressionOf(term), isOne: term.forms === undefined }));
  const numbers = await count(
    kinds.flatMap((kind): Statement[] => {
      const table = wordsTable(kind);
      return [
        [`SELECT count(*) FROM ${table}_docsize`],
        ...expressions.map(
          ({ expression }): Statement => [`SELECT count(*) FROM ${table} WHERE ${table} MATCH ?`, expression],
        ),
      ];
    }),
  );
  const width = terms.length + 1;
  return kinds.map((_, at) => {
    const [passages = 0, ...counts] = numbers.slice(at * width, (at + 1) * width);
    return { passages, terms: expressions.map((term, index) => ({ ...term, count: counts[index] ?? 0 })) };
  });
}

/** Returns, for each kind, the weight of the terms in all kinds together, divided by their weight in this kind alone. */
function scalesOf(kinds: readonly Pick<ScoredKind, 'passages' | 'counts'>[]): readonly number[] {
  const everything = kinds.reduce((sum, { passages }) => sum + passages, 0);
  const together = (index: number): number => kinds.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0);
  return kinds.map(({ passages, counts }) => {
    let alone = 0;
    let inAll = 0;
    for (const [index, count] of counts.entries()) {
      if (count === 0) continue;
      alone += weight(passages, count);
      inAll += weight(everything, together(index));
    }
    return alone === 0 ? 1 : inAll / alone;
  });
}
