/** Reads the tables of a PostgreSQL database that the user of the connection may read, from `pg_catalog`. */
import { compileGlobs } from '../../../core/glob/index.ts';
import type { Catalogue, Column, ForeignKey, Identity, Index, Table, TableName, ValueKind } from '../dialect.ts';
import type { Ask } from './connection.ts';

/** Leaves out the schemas of PostgreSQL itself. */
const USER_SCHEMAS = "nspname <> 'information_schema' AND nspname !~ '^pg_'";

/** Tables, views, materialized views, partitioned tables (not their partitions) and foreign tables. */
const TABLES = `
  SELECT c.oid, n.nspname, c.relname, c.relkind, pg_catalog.obj_description(c.oid, 'pg_class'),
         c.relkind = 'r' AND c.relhassubclass AND EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND ${USER_SCHEMAS}
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')`;

const COLUMNS = `
  SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
         pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.col_description(a.attrelid, a.attnum),
         a.attgenerated <> '', coalesce(b.typname, t.typname), t.typcategory = 'A', a.atttypmod
  FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd'
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND ${USER_SCHEMAS} AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
  ORDER BY a.attrelid, a.attnum`;

/** Gives columns by number; 0 stands for an expression. Only the first `indnkeyatts` are the key; INCLUDE adds the others. */
const INDEXES = `
  SELECT i.indrelid, x.relname, i.indisunique, i.indisprimary,
         i.indpred IS NULL AND i.indimmediate AND i.indisvalid,
         (SELECT pg_catalog.json_agg(k ORDER BY o) FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY u(k, o)
          WHERE o <= i.indnkeyatts)
  FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
    JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${USER_SCHEMAS} AND NOT c.relispartition AND i.indislive
  ORDER BY x.relname`;

const FOREIGN_KEYS = `
  SELECT f.conrelid, f.confrelid, pg_catalog.array_to_json(f.conkey), pg_catalog.array_to_json(f.confkey)
  FROM pg_catalog.pg_constraint f
    JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE f.contype = 'f' AND ${USER_SCHEMAS} AND NOT c.relispartition
  ORDER BY f.conname`;

const KINDS: Readonly<Record<string, ValueKind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  oid: 'integer',
  float4: 'real',
  float8: 'real',
  bytea: 'bytes',
};
/** Types whose values can be large, and whose size `octet_length()` gives. */
const SIZED = new Set(['text', 'varchar', 'bpchar', 'bytea']);
/** A column that declares at most this many characters has no large values. */
const SMALL = 4_096;

type Cells = readonly (string | null)[];

/** An index as `pg_index` describes it. */
interface FoundIndex extends Index {
  readonly primary: boolean;
  /** Not partial, not deferrable, and valid: the index holds for all rows at every moment. */
  readonly whole: boolean;
  /** The numbers of its columns; 0 for an expression. */
  readonly numbers: readonly number[];
}

/** @param schemas globs for the names of the schemas that are shown; undefined: all */
export async function postgresCatalogue(ask: Ask, schemas: readonly string[] | undefined): Promise<Catalogue> {
  const [tables, columns, indexes, keys] = await Promise.all(
    [TABLES, COLUMNS, INDEXES, FOREIGN_KEYS].map((sql) => ask(sql)),
  );
  const columnsOf = grouped(columns?.rows ?? []);
  const indexesOf = grouped(indexes?.rows ?? []);
  const keysOf = grouped(keys?.rows ?? []);
  const shown = compileGlobs(schemas, 'text');
  const names = new Map((tables?.rows ?? []).map(([oid, schema, name]) => [oid, tableName(schema, name)] as const));
  return {
    tables: (tables?.rows ?? []).flatMap(([oid, schema, name, kind, comment, inherited]): Table[] => {
      if (shown?.matches(schema ?? '') === false) return [];
      const numbered = new Map((columnsOf.get(oid) ?? []).map((row) => [Number(row[1]), columnOf(row)] as const));
      const found = (indexesOf.get(oid) ?? []).map((row) => indexOf(row, numbered));
      const primary = found.find((index) => index.primary);
      return [
        {
          ...tableName(schema, name),
          kind: kind === 'v' || kind === 'm' ? 'view' : 'table',
          ...(comment && { comment }),
          columns: [...numbered.values()],
          primaryKey: primary?.columns ?? [],
          // The rows of tables that inherit from this one are among its rows, but its keys do not hold for them.
          identity: inherited === 't' ? undefined : identityOf(found, numbered),
          foreignKeys: (keysOf.get(oid) ?? []).flatMap((row) => foreignKeyOf(row, numbered, names, columnsOf)),
          indexes: found.map((index) => ({ name: index.name, columns: index.columns, unique: index.unique })),
        },
      ];
    }),
  };
}

const tableName = (schema: string | null | undefined, name: string | null | undefined): TableName => ({
  schema: schema ?? '',
  name: name ?? '',
});

/** Groups rows by their first cell, the number of the table. */
function grouped(rows: readonly Cells[]): ReadonlyMap<string | null | undefined, readonly Cells[]> {
  const groups = new Map<string | null | undefined, Cells[]>();
  for (const row of rows) {
    const group = groups.get(row[0]);
    if (group === undefined) groups.set(row[0], [row]);
    else group.push(row);
  }
  return groups;
}

function columnOf([, , name, type, notNull, initial, comment, generated, base, isArray, modifier]: Cells): Column {
  const baseType = isArray === 't' ? undefined : (base ?? '');
  const limit = Number(modifier) - 4;
  const isSmall = baseType !== 'bytea' && limit > 0 && limit <= SMALL;
  return {
    name: name ?? '',
    type: type ?? '',
    kind: (baseType === undefined ? undefined : KINDS[baseType]) ?? 'text',
    nullable: notNull !== 't',
    ...(initial && generated !== 't' && { default: initial }),
    ...(comment && { comment }),
    ...(generated === 't' && { generated: true }),
    ...(baseType !== undefined && SIZED.has(baseType) && !isSmall && { sized: true }),
  };
}

function indexOf([, name, unique, primary, whole, key]: Cells, columns: ReadonlyMap<number, Column>): FoundIndex {
  const numbers = JSON.parse(key ?? '[]') as readonly number[];
  return {
    name: name ?? '',
    columns: numbers.flatMap((number) => columns.get(number)?.name ?? []),
    unique: unique === 't',
    primary: primary === 't',
    whole: whole === 't',
    numbers,
  };
}

/**
 * Returns the primary key, else the shortest unique index over columns that are never NULL. The user must be allowed to
 * read all its columns.
 */
function identityOf(indexes: readonly FoundIndex[], columns: ReadonlyMap<number, Column>): Identity | undefined {
  const usable = indexes
    .filter(({ unique, whole }) => unique && whole)
    .filter(({ numbers }) => numbers.length > 0 && numbers.every((number) => columns.get(number)?.nullable === false))
    .sort((a, b) => Number(b.primary) - Number(a.primary) || a.numbers.length - b.numbers.length);
  const [best] = usable;
  if (best === undefined) return undefined;
  return {
    of: best.primary ? 'primary key' : 'unique index',
    columns: best.numbers.flatMap((number) => {
      const column = columns.get(number);
      return column === undefined ? [] : [{ name: column.name, kind: column.kind }];
    }),
  };
}

/** Returns the foreign key, or nothing if the user may not read one of its columns or the other table. */
function foreignKeyOf(
  [, target, numbers, targetNumbers]: Cells,
  columns: ReadonlyMap<number, Column>,
  names: ReadonlyMap<string | null | undefined, TableName>,
  columnsOf: ReadonlyMap<string | null | undefined, readonly Cells[]>,
): ForeignKey[] {
  const table = names.get(target);
  const targetColumns = new Map((columnsOf.get(target) ?? []).map((row) => [Number(row[1]), row[2] ?? ''] as const));
  const from = (JSON.parse(numbers ?? '[]') as number[]).map((number) => columns.get(number)?.name);
  const to = (JSON.parse(targetNumbers ?? '[]') as number[]).map((number) => targetColumns.get(number));
  const isReadable = (name: string | undefined): name is string => name !== undefined;
  if (table === undefined || !from.every(isReadable) || !to.every(isReadable)) return [];
  return [{ columns: from, table, references: to }];
}
