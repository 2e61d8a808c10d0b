/** Reads the tables of a MySQL or MariaDB server that the user of the connection may see, from its `information_schema`. */
import { compileGlobs } from '../../../core/glob/index.ts';
import type { Catalogue, Column, ForeignKey, Identity, Index, Table, TableName, ValueKind } from '../dialect.ts';
import type { Ask } from './connection.ts';

/** System databases of the server. */
const OWN_DATABASES = "('information_schema', 'mysql', 'performance_schema', 'sys', 'ndbinfo')";

const KINDS: Readonly<Record<string, ValueKind>> = {
  ...record(['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'year', 'bit'], 'integer'),
  ...record(['float', 'double'], 'real'),
  ...record(['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'], 'bytes'),
};
/** A column that may hold more bytes than this counts as large: its size is fetched with its value. */
const SMALL = 4_096;

type Cells = readonly unknown[];

interface FoundIndex extends Index {
  /** Whether the index covers whole columns, without prefixes and expressions. */
  readonly whole: boolean;
}

/**
 * @param database the name of the only database whose tables are shown; undefined: all databases
 * @param schemas globs over the names of the databases that are shown; undefined: all
 */
export async function mysqlCatalogue(
  ask: Ask,
  database: string | undefined,
  schemas: readonly string[] | undefined,
): Promise<Catalogue> {
  const bound = database === undefined ? [] : [database];
  const among = (column: string): string =>
    database === undefined ? `${column} NOT IN ${OWN_DATABASES}` : `${column} = ?`;
  const tables = await ask(
    `SELECT table_schema, table_name, table_type, table_comment FROM information_schema.tables
     WHERE ${among('table_schema')} AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')`,
    bound,
  );
  const columns = await ask(
    `SELECT table_schema, table_name, column_name, column_type, data_type, is_nullable, column_default, column_comment,
            extra, character_octet_length
     FROM information_schema.columns WHERE ${among('table_schema')}
     ORDER BY table_schema, table_name, ordinal_position`,
    bound,
  );
  const parts = await ask(
    `SELECT table_schema, table_name, index_name, non_unique, column_name, sub_part FROM information_schema.statistics
     WHERE ${among('table_schema')} ORDER BY table_schema, table_name, index_name, seq_in_index`,
    bound,
  );
  const references = await ask(
    `SELECT table_schema, table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name,
            referenced_column_name
     FROM information_schema.key_column_usage
     WHERE ${among('table_schema')} AND referenced_table_name IS NOT NULL
     ORDER BY table_schema, table_name, constraint_name, ordinal_position`,
    bound,
  );
  const columnsOf = grouped(columns);
  const partsOf = grouped(parts);
  const referencesOf = grouped(references);
  const shown = compileGlobs(schemas, 'text');
  return {
    tables: tables.flatMap((row): Table[] => {
      const [schema, name, type, comment] = row.map(textOf);
      if (shown?.matches(schema ?? '') === false) return [];
      const key = keyOf(row);
      const found = columnsOf.get(key) ?? [];
      const indexes = indexesOf(partsOf.get(key) ?? []);
      const isView = type === 'VIEW';
      return [
        {
          schema,
          name: name ?? '',
          kind: isView ? 'view' : 'table',
          ...(comment && !isView && { comment }),
          columns: found.map(columnOf),
          primaryKey: indexes.find(({ name: called }) => called === 'PRIMARY')?.columns ?? [],
          identity: identityOf(indexes, found),
          foreignKeys: foreignKeysOf(referencesOf.get(key) ?? []),
          indexes: indexes.map(({ name: called, columns: own, unique }) => ({ name: called, columns: own, unique })),
        },
      ];
    }),
  };
}

function record(names: readonly string[], kind: ValueKind): Record<string, ValueKind> {
  return Object.fromEntries(names.map((name) => [name, kind]));
}

/** Reads a cell as text. Depending on its version, the server sends some columns of the catalogue as bytes. */
const textOf = (cell: unknown): string | undefined => {
  if (cell === null || cell === undefined) return undefined;
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('utf8') : String(cell);
};

/** The key of the table that a row of the catalogue is about: its first two cells name it. */
const keyOf = ([schema, name]: Cells): string => JSON.stringify([textOf(schema), textOf(name)]);

function grouped(rows: readonly Cells[]): ReadonlyMap<string, readonly Cells[]> {
  const groups = new Map<string, Cells[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function columnOf(row: Cells): Column {
  const [, , name = '', type = '', dataType = '', nullable, initial, comment, extra = '', octets] = row.map(textOf);
  const generated = /\b(?:VIRTUAL|STORED|PERSISTENT) GENERATED\b/i.test(extra);
  return {
    name,
    type,
    kind: KINDS[dataType.toLowerCase()] ?? 'text',
    nullable: nullable === 'YES',
    // MariaDB gives NULL for a column without a default.
    ...(initial !== undefined && initial !== 'NULL' && !generated && { default: initial }),
    ...(comment && { comment }),
    ...(generated && { generated }),
    ...((Number(octets ?? 0) > SMALL || dataType.toLowerCase() === 'json') && { sized: true }),
  };
}

function indexesOf(parts: readonly Cells[]): readonly FoundIndex[] {
  const indexes = new Map<string, FoundIndex & { readonly columns: string[] }>();
  for (const row of parts) {
    const [, , name = '', nonUnique, column, prefix] = row.map(textOf);
    const before = indexes.get(name);
    const columns = [...(before?.columns ?? []), ...(column === undefined ? [] : [column])];
    const whole = (before?.whole ?? true) && column !== undefined && prefix === undefined;
    indexes.set(name, { name, columns, unique: Number(nonUnique) === 0, whole });
  }
  return [...indexes.values()];
}

/** Picks the primary key; else the shortest unique index over columns that are never NULL and compare as they sort. */
function identityOf(indexes: readonly FoundIndex[], rows: readonly Cells[]): Identity | undefined {
  const columns = new Map(
    rows.map((row) => [textOf(row[2]) ?? '', { ...columnOf(row), dataType: textOf(row[4]) ?? '' }] as const),
  );
  const [best] = indexes
    .filter(({ unique, whole }) => unique && whole)
    .filter(({ columns: own }) =>
      own.every((name) => {
        const column = columns.get(name);
        return column?.nullable === false && sortsAsItCompares(column.dataType.toLowerCase(), column.type);
      }),
    )
    .sort((a, b) => Number(b.name === 'PRIMARY') - Number(a.name === 'PRIMARY') || a.columns.length - b.columns.length);
  if (best === undefined) return undefined;
  return {
    of: best.name === 'PRIMARY' ? 'primary key' : 'unique index',
    columns: best.columns.map((name) => ({ name, kind: columns.get(name)?.kind ?? 'text' })),
  };
}

/**
 * Whether comparing the column with a bound text follows the order of ORDER BY. An `enum` sorts by number, but compares by
 * name. A `float` is not exact as text; a long `decimal` is not exact when it is compared.
 */
function sortsAsItCompares(dataType: string, type: string): boolean {
  switch (dataType) {
    case 'enum': {
      const labels = [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.toLowerCase());
      return labels.every((label, i) => /^[a-z0-9]+$/.test(label) && (i === 0 || (labels[i - 1] ?? '') < label));
    }
    case 'decimal':
      return Number(/\((\d+)/.exec(type)?.[1] ?? 99) <= 15;
    case 'set':
    case 'float':
      return false;
    default:
      return true;
  }
}

function foreignKeysOf(rows: readonly Cells[]): readonly ForeignKey[] {
  const keys = new Map<string, { columns: string[]; table: TableName; references: string[] }>();
  for (const row of rows) {
    const [, , constraint = '', column = '', schema, name = '', referenced = ''] = row.map(textOf);
    const key = keys.get(constraint) ?? { columns: [], table: { schema, name }, references: [] };
    key.columns.push(column);
    key.references.push(referenced);
    keys.set(constraint, key);
  }
  return [...keys.values()];
}
