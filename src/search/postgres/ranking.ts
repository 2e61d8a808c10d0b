/**
 * Finds the places in PostgreSQL that fit a question, and scores them by BM25. How rare a word is, and how long passages are,
 * come from sums over the searched kinds. How often a passage has a word comes from `ts_rank`, which grows with that number
 * and knows the weights of fields.
 */
import { filterSql } from '../filter-sql.ts';
import type { Filters, Question } from '../question.ts';
import { ALL, bestFirst, type Place, SOME, scoredOf } from '../ranking.ts';
import type { Tokenizing } from '../schema.ts';
import type { Ask } from './connections.ts';
import { quoted } from './schema.ts';
import { type Expression, expressionsOf, matchOf } from './words.ts';

/** The weights of text, path, name and headings, and title in a score. */
const WEIGHTS = [1, 1, 1, 2] as const;
const TITLE = WEIGHTS[3];

/** The limit of `ts_rank` for a word that a passage has very often, divided by the weight of its field. */
const RANK_LIMIT = Math.PI ** 2 / 6;

/** The constants of BM25, as in FTS5. */
const K1 = 1.2;
const B = 0.75;

export interface RankingOptions {
  readonly ask: Ask;
  readonly schema: string;
  readonly diacritics: Tokenizing['diacritics'];
}

/** @param kinds the numbers of the kinds that the caller may search */
export async function* rank(
  { ask, schema, diacritics }: RankingOptions,
  question: Question,
  kinds: readonly number[],
): AsyncGenerator<Place> {
  const expressions = expressionsOf(question, diacritics);
  if (kinds.length === 0 || expressions.length === 0) return;
  const optional = expressions.filter(({ term }) => !term.required).length;
  const some = { ...SOME, match: matchOf(expressions) };
  const lists = optional < 2 ? [some] : [some, { ...ALL, match: expressions.map(({ sql }) => sql).join(' & ') }];
  yield* bestFirst(lists, (limit) =>
    Promise.all(
      lists.map(async (list) => {
        const { sql, parameters } = placesOf(schema, expressions, list.match, question.filters, kinds, limit);
        return (await ask(sql, ...parameters)).flatMap((row) => scoredOf(row, list));
      }),
    ),
  );
}

const COLUMNS =
  'found.id, found.score, resource.uri, resource.path, found.heading, found.page, found.first, found.last, found."offset", found.length, resource.size, resource.changed, found.kind';

interface Sql {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

function placesOf(
  schema: string,
  expressions: readonly Expression[],
  wanted: string,
  filters: Filters,
  kinds: readonly number[],
  limit: number,
): Sql {
  const s = quoted(schema);
  const parameters: unknown[] = [kinds];
  const parameter = (value: unknown): string => `$${parameters.push(value)}`;
  const query = (text: string): string => `to_tsquery('${s.replaceAll("'", "''")}.words', ${parameter(text)})`;
  const terms = expressions.map(({ sql, term, words }) => ({
    query: query(sql),
    forms: (term.forms?.length ?? 0) + 1,
    // A passage may have all words of a phrase, but not the phrase.
    isPhrase: words.length > 1,
  }));
  const match = query(wanted);
  const near = expressions.map((expression) => nearOf(s, expression, parameter)).join('');
  const conditions = filterSql(filters, 'ILIKE', parameter);
  const joined = conditions === '' ? '' : `JOIN ${s}.resource ON resource.id = chunk.resource`;
  const length = `${K1} * (${1 - B} + ${B} * chunk.words / sums.mean)`;
  const scores = terms.map(({ query, forms, isPhrase }, at) => {
    const often = `${TITLE * RANK_LIMIT * forms} * ts_rank('{${WEIGHTS.map((weight) => weight / TITLE)}}', vector, ${query})`;
    const score = `(SELECT often * ${K1 + 1} / (often + ${length}) FROM (SELECT ${often} AS often) AS counted) * weights.w${at}`;
    return isPhrase ? `CASE WHEN vector @@ ${query} THEN ${score} ELSE 0 END` : score;
  });
  const counts = terms.map(
    ({ query }, at) => `(SELECT count(*) FROM ${s}.chunk WHERE kind = ANY($1) AND vector @@ ${query}) AS n${at}`,
  );
  const weights = terms.map(
    (_, at) => `greatest(1e-6, ln(greatest(1e-6, (sums.passages - n${at} + 0.5) / (n${at} + 0.5)))) AS w${at}`,
  );
  return {
    sql: `WITH sums AS MATERIALIZED (
        SELECT coalesce(sum(passages), 0)::float8 AS passages, greatest(1, sum(words)::float8 / greatest(1, sum(passages))) AS mean
        FROM ${s}.kind WHERE id = ANY($1)),
      weights AS MATERIALIZED (SELECT ${weights.join(', ')} FROM sums, (SELECT ${counts.join(', ')}) AS counts)
      SELECT ${COLUMNS} FROM (
        SELECT chunk.id, chunk.resource, chunk.kind, heading, page, first, last, "offset", chunk.length,
          round((${scores.join(' + ')})::numeric, 9) AS score
        FROM ${s}.chunk ${joined} CROSS JOIN sums CROSS JOIN weights
        WHERE chunk.kind = ANY($1) AND vector @@ ${match}${near}${conditions}
        ORDER BY score DESC, chunk.id LIMIT ${limit}) AS found
      JOIN ${s}.resource ON resource.id = found.resource ORDER BY found.score DESC`,
    parameters,
  };
}

/** Returns the condition that all words of a term stand within `near + 2` words of the passage. */
function nearOf(schema: string, { term, words }: Expression, parameter: (value: unknown) => string): string {
  if (term.near === undefined) return '';
  const wanted = parameter([...new Set(words)]);
  return ` AND EXISTS (
    WITH wanted AS (SELECT DISTINCT (ts_lexize('${schema.replaceAll("'", "''")}.forms', word))[1] AS lexeme FROM unnest(${wanted}::text[]) AS word),
    places AS (SELECT lexeme, place FROM unnest(vector) AS each (lexeme, positions, fields)
      CROSS JOIN unnest(positions) AS place WHERE lexeme IN (SELECT lexeme FROM wanted))
    SELECT FROM places AS one WHERE (SELECT count(DISTINCT lexeme) FROM places
      WHERE place BETWEEN one.place AND one.place + ${term.near + 1}) = (SELECT count(*) FROM wanted))`;
}
