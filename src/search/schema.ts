/** The tables of an index, and the statements that fill them. */
import type { Statement } from './thread.ts';

/** An index with another version is built anew. */
export const SCHEMA_VERSION = 3;

export interface Tokenizing {
  /** `english` also finds other forms of a word; `off` finds only the word itself. */
  readonly stemming: 'english' | 'off';
  /** `fold` finds é by e; `keep` tells them apart. */
  readonly diacritics: 'fold' | 'keep';
}

/** The weights of title, name, headings, path and text in a score. */
export const WEIGHTS = [2, 1, 1, 1, 1] as const;

/** Run whenever the file is opened. Changes that are lost in a power cut are read from the resources again. */
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
  'PRAGMA cache_size = -16384',
];

/** `resource` has a row for each resource and folder, `chunk` one for each part of its text. */
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

/** How FTS5 cuts a text into words. */
export const tokenizerOf = ({ stemming, diacritics }: Tokenizing): string =>
  `${stemming === 'english' ? 'porter ' : ''}unicode61 remove_diacritics ${diacritics === 'fold' ? 2 : 0}`;

export const wordsTable = (kind: number): string => `words_${kind}`;

/**
 * Makes the table of words of one kind: of resources that access rules treat alike. Each kind has its own table, so that the
 * frequency of a word is counted only over resources that the caller may read.
 */
export function createWords(kind: number, tokenizing: Tokenizing): readonly Statement[] {
  const table = wordsTable(kind);
  return [
    [
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(
        title, name, headings, path, text, content='', contentless_delete=1, tokenize='${tokenizerOf(tokenizing)}')`,
    ],
    [
      `INSERT INTO ${table} (${table}, rank) VALUES ('rank', 'bm25(${WEIGHTS.map((weight) => weight.toFixed(1)).join(', ')})')`,
    ],
  ];
}
