/** The tables of an index, and the statements that fill them. */
import type { Statement } from './thread.ts';

/** Another one is another index: it is built anew. */
export const SCHEMA_VERSION = 3;

export interface Tokenizing {
  /** `english` finds the forms of a word; `off` only the word. */
  readonly stemming: 'english' | 'off';
  /** `fold` finds é by e; `keep` tells them apart. */
  readonly diacritics: 'fold' | 'keep';
}

/** The weights of title, name, headings, path and text in a score. */
const WEIGHTS = '2.0, 1.0, 1.0, 1.0, 1.0';

/** Run at each opening. Everything that it forgets at a power cut is read again. */
export const PRAGMAS: readonly string[] = [
  'PRAGMA journal_mode = WAL',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA cell_size_check = ON',
  'PRAGMA trusted_schema = OFF',
  'PRAGMA journal_size_limit = 16777216',
  'PRAGMA cache_size = -16384',
];

export const READING_PRAGMAS: readonly string[] = [
  'PRAGMA query_only = ON',
  'PRAGMA cell_size_check = ON',
  'PRAGMA cache_size = -32768',
];

/** A row of `resource` for each resource and folder; one of `chunk` for each part of its text. */
export const TABLES: readonly Statement[] = [
  ['CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID'],
  [
    `CREATE TABLE IF NOT EXISTS resource (
      id INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, parent TEXT, mount TEXT NOT NULL, container INTEGER NOT NULL,
      kind INTEGER NOT NULL, version TEXT, type TEXT, path TEXT NOT NULL, changed TEXT, size INTEGER, problem TEXT)`,
  ],
  ['CREATE INDEX IF NOT EXISTS resource_parent ON resource (parent)'],
  ['CREATE INDEX IF NOT EXISTS resource_kind ON resource (kind)'],
  ['CREATE INDEX IF NOT EXISTS resource_problem ON resource (problem) WHERE problem IS NOT NULL'],
  [
    `CREATE TABLE IF NOT EXISTS chunk (
      id INTEGER PRIMARY KEY, resource INTEGER NOT NULL, heading TEXT, page INTEGER, first INTEGER, last INTEGER,
      offset INTEGER, length INTEGER)`,
  ],
  ['CREATE INDEX IF NOT EXISTS chunk_resource ON chunk (resource)'],
  ['CREATE TABLE IF NOT EXISTS kind (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)'],
];

export const wordsTable = (kind: number): string => `words_${kind}`;

/**
 * The words of the resources that are decided about alike. Each kind has a table of its own, so that how often a word is
 * there is counted over what a caller may read, and over nothing else.
 */
export function createWords(kind: number, { stemming, diacritics }: Tokenizing): readonly Statement[] {
  const table = wordsTable(kind);
  const tokenizer = `${stemming === 'english' ? 'porter ' : ''}unicode61 remove_diacritics ${diacritics === 'fold' ? 2 : 0}`;
  return [
    [
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(
        title, name, headings, path, text, content='', contentless_delete=1, tokenize='${tokenizer}')`,
    ],
    [`INSERT INTO ${table} (${table}, rank) VALUES ('rank', 'bm25(${WEIGHTS})')`],
  ];
}
