/**
 * The places that fit a question, best first. Each kind of resources is asked by itself, and only those that the caller may
 * read; where there are several, each score is put on one scale: how rare a word is in all of them together.
 */
import { invalid } from '../core/errors.ts';
import { expressionOf, type Filters, matchOf, matchOfAll, type Question } from './question.ts';
import { wordsTable } from './schema.ts';
import type { Rows, SqlValue, Statement } from './thread.ts';

/** Places of each kind that are looked at, round after round; there is nothing behind the last. */
const ROUNDS = [50, 400, 3_200] as const;

/** A passage that has all that is asked for is worth so much more than one that has as rare words of it. */
export const ALL_THERE = 2;

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

/** @param kinds the numbers of those that the caller may read */
export async function* rank(ask: Asking, question: Question, kinds: readonly number[]): AsyncGenerator<Place> {
  if (kinds.length === 0) return;
  const scales = kinds.length === 1 ? [1] : await scalesOf(ask, question, kinds);
  const all = matchOfAll(question);
  // Each list is ordered by itself.
  const lists = kinds.flatMap((kind, at) => {
    const scale = scales[at] ?? 1;
    const some = { kind, scale, match: matchOf(question) };
    return all === undefined ? [some] : [{ kind, scale: scale * ALL_THERE, match: all }, some];
  });
  yield* bestFirst(async (limit) => {
    const answers = await ask(lists.map(({ kind, match }) => placesOf(question.filters, kind, match, limit)));
    return answers.map((rows, at) => rows.flatMap((row) => scoredOf(row, lists[at] ?? { scale: 1 })));
  });
}

/** Merges lists of places into one, of each resource the best. @param listsOf the first places of each list, each list best first */
export async function* bestFirst(
  listsOf: (limit: number) => Promise<readonly (readonly Scored[])[]>,
): AsyncGenerator<Place> {
  const given = new Set<string>();
  for (const limit of ROUNDS) {
    const found = await listsOf(limit);
    // Behind the last that was looked at, others may follow that come before those of another list.
    const cut = found.flatMap((places) => (places.length < limit ? [] : [places.at(-1)?.score ?? 0]));
    const sure = limit === ROUNDS.at(-1) ? Number.NEGATIVE_INFINITY : Math.max(Number.NEGATIVE_INFINITY, ...cut);
    // Equal ones come in an order that tells nothing of the index.
    const sorted = found.flat().sort((a, b) => b.score - a.score || compare(a.uri, b.uri) || a.chunk - b.chunk);
    for (const { score, chunk: _chunk, ...place } of sorted) {
      if (score <= sure) break;
      if (given.has(place.uri)) continue;
      given.add(place.uri);
      yield place;
    }
    if (cut.length === 0) return;
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const COLUMNS =
  'found.rowid, -found.rank, resource.uri, resource.path, chunk.heading, chunk.page, chunk.first, chunk.last, chunk.offset, chunk.length, resource.size, resource.changed';

function placesOf(filters: Filters, kind: number, match: string, limit: number): Statement {
  const table = wordsTable(kind);
  const { sql, parameters } = conditionsOf(filters);
  const joined = 'JOIN chunk ON chunk.id = found.rowid JOIN resource ON resource.id = chunk.resource';
  if (sql === '') {
    return [
      `SELECT ${COLUMNS} FROM (SELECT rowid, rank FROM ${table} WHERE ${table} MATCH ? ORDER BY rank LIMIT ${limit}) AS found
       ${joined} ORDER BY found.rank`,
      match,
    ];
  }
  return [
    `SELECT ${COLUMNS} FROM ${table} AS found ${joined} WHERE found.${table} MATCH ?${sql} ORDER BY found.rank LIMIT ${limit}`,
    match,
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

/** The weight of a term, as BM25 of FTS5 has it: where more than half have the term, next to nothing. */
const weight = (all: number, having: number): number => Math.max(1e-6, Math.log((all - having + 0.5) / (having + 0.5)));

/** For each kind, how much more its terms weigh in all kinds together than in it alone. */
async function scalesOf(ask: Asking, { terms }: Question, kinds: readonly number[]): Promise<readonly number[]> {
  const counts = await ask(
    kinds.flatMap((kind): Statement[] => {
      const table = wordsTable(kind);
      return [
        [`SELECT count(*) FROM ${table}`],
        ...terms.map((term): Statement => [`SELECT count(*) FROM ${table} WHERE ${table} MATCH ?`, expressionOf(term)]),
      ];
    }),
  );
  const numbers = counts.map((rows) => Number(rows[0]?.[0] ?? 0));
  const width = terms.length + 1;
  const of = (at: number): readonly number[] => numbers.slice(at * width, (at + 1) * width);
  const sums = Array.from({ length: width }, (_, column) =>
    kinds.reduce((sum, _kind, at) => sum + (of(at)[column] ?? 0), 0),
  );
  const [everything = 0, ...together] = sums;
  return kinds.map((_, at) => {
    const [all = 0, ...having] = of(at);
    let alone = 0;
    let inAll = 0;
    for (const [index, count] of having.entries()) {
      if (count === 0) continue;
      alone += weight(all, count);
      inAll += weight(everything, together[index] ?? 0);
    }
    return alone === 0 ? 1 : inAll / alone;
  });
}
