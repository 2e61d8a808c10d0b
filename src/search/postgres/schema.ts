/** The schema of an index in PostgreSQL. The server that comes first makes it. */
import type { Tokenizing } from '../schema.ts';

/** An index with another version is built anew. */
export const SCHEMA_VERSION = 1;

/** The schema of the index, unless its configuration says otherwise. */
export const DEFAULT_SCHEMA = 'vitrine_index';

/** The tables in the order in which they are dropped. Questions lock them in the same order, so that neither waits for the other. */
const TABLES = ['kind', 'chunk', 'resource', 'meta'] as const;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Returns the statements that fill an existing schema. `meta` is made last, so that a schema with it is complete. Texts come as the
 * words of the index with spaces between, so that PostgreSQL only has to find the forms of words.
 */
export function createSchema(schema: string, { stemming }: Tokenizing): readonly string[] {
  const s = quoted(schema);
  return [
    `CREATE TEXT SEARCH DICTIONARY ${s}.forms (TEMPLATE = pg_catalog.${
      stemming === 'english' ? 'snowball, Language = english' : 'simple'
    })`,
    `CREATE TEXT SEARCH CONFIGURATION ${s}.words (COPY = pg_catalog.simple)`,
    `ALTER TEXT SEARCH CONFIGURATION ${s}.words ALTER MAPPING FOR asciiword, word, numword WITH ${s}.forms`,
    // The sums of a kind: how many passages it has, and how many words they have.
    `CREATE TABLE ${s}.kind (
      id integer PRIMARY KEY, key text NOT NULL UNIQUE, passages bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0)`,
    `CREATE TABLE ${s}.resource (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, uri text COLLATE "C" NOT NULL, parent text COLLATE "C", mount text NOT NULL,
      container boolean NOT NULL, kind integer NOT NULL, version text, type text, path text NOT NULL, changed text COLLATE "C",
      size bigint, problem text)`,
    // A URI may be longer than a B-tree index allows, so these have its digest.
    `CREATE UNIQUE INDEX resource_uri ON ${s}.resource (md5(uri))`,
    `CREATE INDEX resource_parent ON ${s}.resource (md5(parent))`,
    `CREATE INDEX resource_kind ON ${s}.resource (kind)`,
    `CREATE INDEX resource_problem ON ${s}.resource (problem) WHERE problem IS NOT NULL`,
    `CREATE TABLE ${s}.chunk (
      id bigint GENERATED ALWAYS AS IDENTITY, resource bigint NOT NULL, kind integer NOT NULL, heading text, page integer,
      first integer, last integer, "offset" bigint, length integer, words integer NOT NULL, vector tsvector NOT NULL
    ) PARTITION BY LIST (kind)`,
    `CREATE INDEX chunk_resource ON ${s}.chunk (resource)`,
    `CREATE INDEX chunk_vector ON ${s}.chunk USING gin (vector)`,
    `CREATE TABLE ${s}.meta (key text PRIMARY KEY, value text NOT NULL)`,
  ];
}

/** Makes the table of a kind. With a table for each, a question takes time only for what its caller may read. */
export const createKind = (schema: string, kind: number): string =>
  `CREATE TABLE ${quoted(schema)}.chunk_${kind} PARTITION OF ${quoted(schema)}.chunk FOR VALUES IN (${kind})`;

/** Returns the statements that drop what `createSchema` made, and nothing else. */
export function dropSchema(schema: string): readonly string[] {
  const s = quoted(schema);
  return [
    ...TABLES.map((table) => `DROP TABLE IF EXISTS ${s}.${table}`),
    `DROP TEXT SEARCH CONFIGURATION IF EXISTS ${s}.words`,
    `DROP TEXT SEARCH DICTIONARY IF EXISTS ${s}.forms`,
  ];
}
