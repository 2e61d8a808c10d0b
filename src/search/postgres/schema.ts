/** The schema of an index in PostgreSQL. It is made by whichever server comes first, and has a version. */
import type { Tokenizing } from '../schema.ts';

/** Another one is another index: it is built anew. */
export const SCHEMA_VERSION = 1;

/** The schema of the index, unless its configuration says otherwise. */
export const DEFAULT_SCHEMA = 'vitrine_index';

/** The tables, and the rest that has names; `meta` is made last, so that an index has all of it or is none. */
const TABLES = ['meta', 'chunk', 'resource', 'kind'] as const;

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Fills a schema that is there. Words come as they are in the index, one space between them: only their forms are left to be found. */
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
    // A URI may be longer than what an index takes.
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

/** Each kind has a table of its own, so that a question costs what its caller may read and nothing else. */
export const createKind = (schema: string, kind: number): string =>
  `CREATE TABLE ${quoted(schema)}.chunk_${kind} PARTITION OF ${quoted(schema)}.chunk FOR VALUES IN (${kind})`;

/** Takes out what `createSchema` made, and leaves whatever else is there. */
export function dropSchema(schema: string): readonly string[] {
  const s = quoted(schema);
  return [
    ...TABLES.map((table) => `DROP TABLE IF EXISTS ${s}.${table}`),
    `DROP TEXT SEARCH CONFIGURATION IF EXISTS ${s}.words`,
    `DROP TEXT SEARCH DICTIONARY IF EXISTS ${s}.forms`,
  ];
}
