/**
 * The places that fit a question, best first. Each kind of resources is asked by itself, and only those that the caller may
 * read; where there are several, each score is put on one scale: how rare a word is in all of them together.
 */
import { invalid } from '../core/errors.ts';
import { type Attempt, attempts, type CountedTerm, weight } from './pruning.ts';
import { expressionOf, type Filters, matchOf, matchOfAll, type Question } from './question.ts';
import { wordsTable } from './schema.ts';
import type { Rows, SqlValue, Statement } from './thread.ts';

/** Passages of each list that are looked at, round after round; there is nothing behind the last. */
const ROUNDS = [50, 400, 3_200] as const;

/** Each further passage of a resource counts this much of the one before it. */
const FURTHER = 0.1;

/** The same of passages that have all that is asked for, and how much these count beside what they are worth anyway. */
const FURTHER_OF_ALL = 0.5;
export const ALL_THERE = 0.3;

export interface Place {
  readonly uri: string;
  readonly path: string;
  readonly kind: number;
  readonly heading: string | undefined;
  readonly page: number | undefined;
  readonly lines: { readonly first: number; readonly last: number } | undefined;
  readonly bytes: { readonly offset: number; readonly length: number } | undefined;
  /** The size and the time of the resource when it was read. */
  readonly size: number | undefined;
  readonly changed: string | undefined;
}

export interface Scored extends Place {
  readonly chunk: number;
  /** Higher is better. */
  readonly score: number;
}

type Asking = (statements: readonly Statement[]) => Promise<readonly Rows[]>;

/** Passages of one kind, or of several. */
export interface Found {
  /** Those that have something of the question, and those that have all of it. */
  readonly some: readonly Scored[];
  readonly whole: readonly Scored[];
  /** No passage that is missing is worth more; undefined where none is missing. */
  readonly cut: number | undefined;
}

/** The passages of one kind that fit an expression. */
interface List {
  readonly kind: number;
  readonly match: string;
  readonly scale: number;
  /** Ways to find the best of it. */
  readonly attempts: (limit: number) => readonly Attempt[];
}

/** @param kinds the numbers of those that the caller may read */
export async function* rank(ask: Asking, question: Question, kinds: readonly number[]): AsyncGenerator<Place> {
  if (kinds.length === 0) return;
  const counts = await countsOf(ask, question, kinds);
  const scales = scalesOf(counts);
  const all = matchOfAll(question);
  const isRequired = question.terms.some(({ required }) => required);
  const whole = (): readonly Attempt[] => attempts([], 0, 0);
  // Each list is ordered by itself.
  const bestOf = async (list: List, limit: number): Promise<readonly Scored[]> => {
    for (const { among, bound } of list.attempts(limit)) {
      const [rows = []] = await ask([placesOf(question.filters, list, limit, among)]);
      if (among === undefined || (rows.length === limit && Number(rows.at(-1)?.[1] ?? 0) >= bound))
        return rows.flatMap((row) => scoredOf(row, list));
    }
    return [];
  };
  const foundOf = async (at: number, limit: number): Promise<Found> => {
    const { passages = 0, terms = [] } = counts[at] ?? {};
    const list = { kind: kinds[at] ?? 0, scale: scales[at] ?? 1 };
    const ways = isRequired ? whole : (most: number): readonly Attempt[] => attempts(terms, passages, most);
    const [some, having] = await Promise.all([
      bestOf({ ...list, match: matchOf(question), attempts: ways }, limit),
      all === undefined ? [] : bestOf({ ...list, match: all, attempts: whole }, limit),
    ]);
    const ends = [...lastOf(some, limit, 1), ...lastOf(having, limit, 1 + ALL_THERE)];
    return { some, whole: having, cut: ends.length === 0 ? undefined : Math.max(...ends) };
  };
  yield* bestFirst((limit) => Promise.all(kinds.map((_, at) => foundOf(at, limit))));
}

/** The worth of the last passage of a list that may go on behind it. */
const lastOf = (list: readonly Scored[], limit: number, factor: number): readonly number[] =>
  list.length < limit ? [] : [(list.at(-1)?.score ?? 0) * factor];

/** Gives the best place of each resource, best resource first. @param foundFor finds at least so many passages, where there are */
export async function* bestFirst(foundFor: (limit: number) => Promise<readonly Found[]>): AsyncGenerator<Place> {
  const given = new Set<string>();
  for (const limit of ROUNDS) {
    const found = await foundFor(limit);
    const cuts = found.flatMap(({ cut }) => (cut === undefined ? [] : [cut]));
    // Behind the last that was looked at, others may follow that come before those of another kind.
    const sure = limit === ROUNDS.at(-1) ? Number.NEGATIVE_INFINITY : Math.max(Number.NEGATIVE_INFINITY, ...cuts);
    for (const { total, best } of merged(found)) {
      if (total <= sure) break;
      if (given.has(best.uri)) continue;
      given.add(best.uri);
      const { score: _score, chunk: _chunk, ...place } = best;
      yield place;
    }
    if (cuts.length === 0) return;
  }
}

interface Worth {
  readonly total: number;
  readonly best: Scored;
}

/** Resources by all that was found in them, each with its best passage. */
function merged(found: readonly Found[]): readonly Worth[] {
  const resources = new Map<string, Worth>();
  const add = (places: readonly Scored[], share: number, further: number): void => {
    const counts = new Map<string, number>();
    for (const place of places) {
      const count = counts.get(place.uri) ?? 0;
      counts.set(place.uri, count + 1);
      const worth = place.score * share * further ** count;
      const { total, best } = resources.get(place.uri) ?? { total: 0, best: place };
      resources.set(place.uri, { total: total + worth, best });
    }
  };
  for (const { some, whole } of found) {
    // One that has all is worth as much among those that have some, where it is missing there.
    const isThere = new Set(some.map(({ chunk }) => chunk));
    const others = whole.filter(({ chunk }) => !isThere.has(chunk));
    const isWhole = new Set(whole.map(({ chunk }) => chunk));
    const worth = ({ chunk, score }: Scored): number => score * (isWhole.has(chunk) ? 1 + ALL_THERE : 1);
    const sorted = [...some, ...others].sort((a, b) => worth(b) - worth(a) || a.chunk - b.chunk);
    add(sorted, 1, FURTHER);
    add(whole, ALL_THERE, FURTHER_OF_ALL);
  }
  // Equal ones come in an order that tells nothing of the index.
  return [...resources.values()].sort((a, b) => b.total - a.total || compare(a.best.uri, b.best.uri));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const COLUMNS =
  'found.rowid, -found.rank, resource.uri, resource.path, chunk.heading, chunk.page, chunk.first, chunk.last, chunk.offset, chunk.length, resource.size, resource.changed';

function placesOf(filters: Filters, { kind, match }: List, limit: number, among: string | undefined): Statement {
  const table = wordsTable(kind);
  const { sql, parameters } = conditionsOf(filters);
  const joined = 'JOIN chunk ON chunk.id = found.rowid JOIN resource ON resource.id = chunk.resource';
  // With the sign, the rows are gone through in the order of the words, and none but these is scored.
  const inside = among === undefined ? '' : ` AND +rowid IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ?)`;
  const matches = among === undefined ? [match] : [match, among];
  const order = `${among === undefined ? '' : '+'}rank`;
  if (sql === '') {
    return [
      `SELECT ${COLUMNS} FROM (SELECT rowid, rank FROM ${table} WHERE ${table} MATCH ?${inside} ORDER BY ${order} LIMIT ${limit}) AS found
       ${joined} ORDER BY found.rank`,
      ...matches,
    ];
  }
  return [
    `SELECT ${COLUMNS} FROM ${table} AS found ${joined} WHERE found.${table} MATCH ?${inside.replace('rowid', 'found.rowid')}${sql}
     ORDER BY ${order.replace('rank', 'found.rank')} LIMIT ${limit}`,
    ...matches,
    ...parameters,
  ];
}

function conditionsOf(filters: Filters): { readonly sql: string; readonly parameters: readonly SqlValue[] } {
  const { mount, folder, type, after, before, larger, smaller } = filters;
  const conditions: (readonly [string, ...SqlValue[]])[] = [];
  if (mount !== undefined) conditions.push(['mount = ?', mount]);
  if (folder !== undefined) {
    const bare = folder.replace(/\/$/, '');
    // The digit 0 follows the slash in the order of characters.
    conditions.push(['(uri IN (?, ?) OR (uri > ? AND uri < ?))', folder, bare, `${bare}/`, `${bare}0`]);
  }
  if (type !== undefined) conditions.push(["type LIKE ? ESCAPE '\\'", typePattern(type)]);
  if (after !== undefined) conditions.push(['changed >= ?', after]);
  if (before !== undefined) conditions.push(['changed < ?', before]);
  if (larger !== undefined) conditions.push(['size > ?', larger]);
  if (smaller !== undefined) conditions.push(['size < ?', smaller]);
  return {
    sql: conditions.map(([sql]) => ` AND ${sql}`).join(''),
    parameters: conditions.flatMap(([, ...parameters]) => parameters),
  };
}

/** `image/*` is a range; `text/plain` a type, whatever its parameters; `pdf` a part of one. */
export function typePattern(type: string): string {
  if (!/^[a-z0-9!#$&^_.+*/-]+$/.test(type)) throw invalid('type: takes a type as text/markdown, image/* or pdf');
  const escaped = type.replace(/[%_]/g, '\\$&');
  if (type.endsWith('/*')) return `${escaped.slice(0, -1)}%`;
  return type.includes('/') ? `${escaped}%` : `%${escaped}%`;
}

/** @param row the columns of a place; its kind comes last where a list has several */
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

/** The passages of a kind, and of each term how many have it. */
interface Counts {
  readonly passages: number;
  readonly terms: readonly CountedTerm[];
}

async function countsOf(ask: Asking, { terms }: Question, kinds: readonly number[]): Promise<readonly Counts[]> {
  const expressions = terms.map((term) => ({ expression: expressionOf(term), isOne: term.forms === undefined }));
  const answers = await ask(
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
  const numbers = answers.map((rows) => Number(rows[0]?.[0] ?? 0));
  const width = terms.length + 1;
  return kinds.map((_, at) => {
    const [passages = 0, ...counts] = numbers.slice(at * width, (at + 1) * width);
    return { passages, terms: expressions.map((each, index) => ({ ...each, count: counts[index] ?? 0 })) };
  });
}

/** For each kind, how much more its terms weigh in all kinds together than in it alone. */
function scalesOf(counts: readonly Counts[]): readonly number[] {
  const everything = counts.reduce((sum, { passages }) => sum + passages, 0);
  const together = (index: number): number => counts.reduce((sum, { terms }) => sum + (terms[index]?.count ?? 0), 0);
  return counts.map(({ passages, terms }) => {
    let alone = 0;
    let inAll = 0;
    for (const [index, { count }] of terms.entries()) {
      if (count === 0) continue;
      alone += weight(passages, count);
      inAll += weight(everything, together(index));
    }
    return alone === 0 ? 1 : inAll / alone;
  });
}
