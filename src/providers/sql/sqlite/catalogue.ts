/** Reads the tables and views of a SQLite file, without the internal ones of SQLite and of its virtual tables. */
import { breaks } from '../../../core/breaks.ts';
import { ResourceError } from '../../../core/errors.ts';
import type {
  Catalogue,
  Column,
  ForeignKey,
  Identity,
  Index,
  Limits,
  Rows,
  Table,
  Value,
  ValueKind,
} from '../dialect.ts';

/** The most tables and views of a file that are shown. */
export const MAX_TABLES = 10_000;

/** The most rows that one statement of the catalogue gives, such as the columns of all tables. */
const MAX_ROWS = 1_000_000;

const MAX_BYTES = 256 * 1024 * 1024;

const TABLES = `SELECT name, type, wr FROM pragma_table_list
  WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  ORDER BY name LIMIT ${MAX_TABLES}`;

/** Parts of the three statements below. Their parameter is the name of one table, or NULL for all tables. */
const FROM = `FROM pragma_table_list t JOIN`;
const WHERE = `WHERE t.schema = 'main' AND t.type IN ('table', 'view', 'virtual') AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  AND (?1 IS NULL OR t.name = ?1)`;
const COLUMNS = `SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
  ${FROM} pragma_table_xinfo(t.name) c ${WHERE} ORDER BY t.name, c.cid`;
const FOREIGN_KEYS = `SELECT t.name, f.id, f."from", f."table", f."to"
  ${FROM} pragma_foreign_key_list(t.name) f ${WHERE} ORDER BY t.name, f.id, f.seq`;
const INDEXES = `SELECT t.name, i.name, i."unique", i.partial, i.origin, c.name
  ${FROM} pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c ${WHERE} ORDER BY t.name, i.name, c.seqno`;

type Ask = (sql: string, table: string | null) => Promise<readonly (readonly Value[])[]>;

/** @param run runs a statement of the catalogue */
export async function readCatalogue(
  run: (sql: string, parameters: readonly (string | null)[], limits: Limits) => Promise<Rows>,
  limits: Limits,
): Promise<Catalogue> {
  const wide = { ...limits, maxRows: MAX_ROWS, maxBytes: MAX_BYTES };
  const ask: Ask = async (sql, table) => (await run(sql, [table], wide)).rows;
  const { rows: listed } = await run(TABLES, [], wide);
  const facts = await askAll(
    ask,
    listed.map(([name]) => String(name)),
  );
  const tables: Table[] = [];
  const taken = breaks();
  for (const [name, type, withoutRowId] of listed) {
    await taken();
    tables.push(tableOf(String(name), type, isSet(withoutRowId), facts));
  }
  return { tables };
}

interface Facts {
  readonly columns: ReadonlyMap<string, readonly (readonly Value[])[]>;
  readonly foreignKeys: ReadonlyMap<string, readonly (readonly Value[])[]>;
  readonly indexes: ReadonlyMap<string, readonly (readonly Value[])[]>;
}

async function askAll(ask: Ask, names: readonly string[]): Promise<Facts> {
  const grouped = async (sql: string): Promise<Facts['columns']> => {
    const groups = new Map<string, (readonly Value[])[]>();
    const taken = breaks();
    for (const [name, ...rest] of await together(ask, sql, names)) {
      const turn = taken();
      if (turn !== undefined) await turn;
      const group = groups.get(String(name)) ?? [];
      group.push(rest);
      groups.set(String(name), group);
    }
    return groups;
  };
  return {
    columns: await grouped(COLUMNS),
    foreignKeys: await grouped(FOREIGN_KEYS),
    indexes: await grouped(INDEXES),
  };
}

/**
 * Reads rows of all tables with one statement. If that fails, reads table by table and leaves out those that fail: a view of
 * a table that is gone, or a virtual table without its module.
 */
async function together(ask: Ask, sql: string, names: readonly string[]): Promise<readonly (readonly Value[])[]> {
  try {
    return await ask(sql, null);
  } catch (error) {
    if (!concernsTable(error)) throw error;
  }
  const rows: (readonly Value[])[] = [];
  for (const name of names) {
    try {
      rows.push(...(await ask(sql, name)));
    } catch (error) {
      if (!concernsTable(error)) throw error;
    }
  }
  return rows;
}

/** Whether the fault concerns one table, and not the database or the time limit. */
const concernsTable = (error: unknown): boolean =>
  error instanceof ResourceError && (error.code === 'internal' || error.code === 'not-found');

const isSet = (value: Value | undefined): boolean => Number(value ?? 0) !== 0;

function tableOf(name: string, type: Value | undefined, withoutRowId: boolean, facts: Facts): Table {
  const described = facts.columns.get(name) ?? [];
  const primaryKey = described
    .filter(([, , , , pk]) => isSet(pk))
    .sort((a, b) => Number(a[4]) - Number(b[4]))
    .map(([column]) => String(column));
  const indexes = indexesOf(facts.indexes.get(name) ?? []);
  // The row id needs no index. An INTEGER PRIMARY KEY with one was declared DESC: it is not the row id, and may be NULL.
  const rowId = primaryKey.length === 1 && !indexes.some(({ ofKey }) => ofKey) ? primaryKey[0] : undefined;
  const columns = described
    .filter(([, , , , , hidden]) => Number(hidden) !== 1)
    .map((column) => columnOf(column, rowId));
  return {
    schema: undefined,
    name,
    kind: type === 'view' ? 'view' : 'table',
    columns,
    primaryKey,
    identity: type === 'table' ? identityOf(columns, primaryKey, withoutRowId, indexes) : undefined,
    foreignKeys: foreignKeysOf(facts.foreignKeys.get(name) ?? []),
    indexes: indexes.map(({ partial: _partial, ofKey: _ofKey, ...index }) => index),
  };
}

/** @param rowId the name of the column that is the row id if its type is INTEGER */
function columnOf([name, type, notNull, default_, , hidden]: readonly Value[], rowId: string | undefined): Column {
  const declared = String(type);
  const kind = kindOf(declared);
  return {
    name: String(name),
    type: declared,
    kind,
    // SQLite allows NULL in primary keys, but not in the row id. It reports the keys of STRICT and WITHOUT ROWID tables as NOT NULL.
    nullable: !isSet(notNull) && !(name === rowId && declared.toUpperCase() === 'INTEGER'),
    ...(default_ !== null && { default: String(default_) }),
    ...(kind !== 'integer' && kind !== 'real' && { sized: true }),
    ...(Number(hidden) > 1 && { generated: true }),
  };
}

/** Returns the kind by the affinity of the declared type (https://sqlite.org/datatype3.html, section 3.1). */
function kindOf(declared: string): ValueKind {
  const type = declared.toUpperCase();
  if (type.includes('INT')) return 'integer';
  if (/CHAR|CLOB|TEXT/.test(type)) return 'text';
  if (type.includes('BLOB')) return 'bytes';
  if (/REAL|FLOA|DOUB/.test(type)) return 'real';
  return /NUM|DEC|BOOL/.test(type) ? 'integer' : 'any';
}

interface SqliteIndex extends Index {
  readonly partial: boolean;
  /** Whether SQLite made it for the primary key. */
  readonly ofKey: boolean;
}

function identityOf(
  columns: readonly Column[],
  primaryKey: readonly string[],
  withoutRowId: boolean,
  indexes: readonly SqliteIndex[],
): Identity | undefined {
  const keyOf = (names: readonly string[]): Column[] =>
    names.flatMap((name) => columns.find((column) => column.name === name) ?? []);
  const shape = (of: Identity['of'], key: readonly Column[], tieBreak?: string): Identity => ({
    of,
    columns: key.map(({ name, kind }) => ({ name, kind })),
    ...(tieBreak !== undefined && { tieBreak }),
  });
  const rowId = withoutRowId ? undefined : rowIdName(columns);
  const key = keyOf(primaryKey);
  if (key.length > 0 && key.length === primaryKey.length) {
    return shape('primary key', key, key.some(({ nullable }) => nullable) ? rowId : undefined);
  }
  for (const index of indexes) {
    if (!index.unique || index.partial) continue;
    const unique = keyOf(index.columns);
    if (unique.length > 0 && unique.length === index.columns.length && unique.every(({ nullable }) => !nullable))
      return shape('unique index', unique);
  }
  return rowId === undefined ? undefined : { of: 'row id', columns: [{ name: rowId, kind: 'integer' }] };
}

/** Returns a name of the row id that no column has; undefined if columns have all of its names. */
function rowIdName(columns: readonly Column[]): string | undefined {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  return ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name));
}

function foreignKeysOf(rows: readonly (readonly Value[])[]): readonly ForeignKey[] {
  const keys = new Map<string, { table: string; columns: string[]; references: (string | null)[] }>();
  for (const [id, from, table, to] of rows) {
    const key = keys.get(String(id)) ?? { table: String(table), columns: [], references: [] };
    key.columns.push(String(from));
    key.references.push(to === null || to === undefined ? null : String(to));
    keys.set(String(id), key);
  }
  return [...keys.values()].map(({ table, columns, references }) => ({
    columns,
    table: { schema: undefined, name: table },
    // Without columns the foreign key means the other table's primary key, which `catalogues.ts` fills in.
    references: references.includes(null) ? [] : references.map(String),
  }));
}

function indexesOf(rows: readonly (readonly Value[])[]): readonly SqliteIndex[] {
  const indexes = new Map<string, { unique: boolean; partial: boolean; ofKey: boolean; columns: string[] }>();
  for (const [name, unique, partial, origin, column] of rows) {
    const facts = { unique: isSet(unique), partial: isSet(partial), ofKey: origin === 'pk' };
    const index = indexes.get(String(name)) ?? { ...facts, columns: [] };
    // An expression has no name, and an index with one does not tell rows apart.
    if (column === null) index.partial = true;
    else index.columns.push(String(column));
    indexes.set(String(name), index);
  }
  return [...indexes].map(([name, index]) => ({ name, ...index }));
}
