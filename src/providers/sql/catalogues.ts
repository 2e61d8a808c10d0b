/** Keeps the catalogue of a database: its tables, filtered and sorted, with the keys between them. Reads it again when it changes. */
import { giveWay } from '../../core/breaks.ts';
import type { Context } from '../../core/context.ts';
import { compileGlobs } from '../../core/glob/index.ts';
import type { SqlConfig } from './config.ts';
import type { Catalogue, Connection, ForeignKey, Limits, Table, TableName } from './dialect.ts';
import type { LimitsOf } from './limits.ts';

/** Milliseconds for which a catalogue counts as current, for databases that give it no version. */
const FRESH_MS = 5_000;

/** The catalogue as the provider shows it. */
export interface ShownCatalogue {
  /** Sorted by schema, then by name. */
  readonly tables: readonly Table[];
  /** The names of schemas that have a table, sorted; empty if the database has no schemas. */
  readonly schemas: readonly string[];
  find(schema: string | undefined, name: string): Table | undefined;
  /** Returns the tables of a schema. For a database without schemas, `undefined` returns all tables. */
  within(schema: string | undefined): readonly Table[];
  /** Returns the foreign keys that refer to this table, with their tables. */
  referring(table: TableName): readonly { readonly table: Table; readonly key: ForeignKey }[];
}

export interface Catalogues {
  get(ctx: Context): Promise<ShownCatalogue>;
  /** Drops the catalogue, also one that is still being read, because it may be out of date. */
  forget(): void;
}

export function createCatalogues(
  connection: Connection,
  config: Pick<SqlConfig, 'tables' | 'views'>,
  limitsOf: LimitsOf,
): Catalogues {
  let current:
    | { readonly known: ShownCatalogue; readonly version: string | undefined; readonly at: number }
    | undefined;
  let reading: { readonly version: string | undefined; readonly known: Promise<ShownCatalogue> } | undefined;

  async function read(): Promise<ShownCatalogue> {
    // No caller can abort the reading, because others may wait for it, too.
    const limits: Limits = limitsOf(new AbortController().signal);
    const found = await connection.catalogue(limits);
    // Sorting thousands of columns takes time, so other work gets a turn before and after it.
    await giveWay();
    const known = knownOf(await filtered(found, config));
    await giveWay();
    return known;
  }

  /** Begins a reading. Its catalogue is kept unless `forget` was called meanwhile, or another reading has begun. */
  function begin(version: string | undefined): NonNullable<typeof reading> {
    const begun: NonNullable<typeof reading> = {
      version,
      known: read()
        .then((known) => {
          if (reading === begun) current = { known, version, at: Date.now() };
          return known;
        })
        .finally(() => {
          if (reading === begun) reading = undefined;
        }),
    };
    return begun;
  }

  return {
    async get(ctx) {
      const version = await connection.version?.(limitsOf(ctx));
      ctx.signal.throwIfAborted();
      const fresh = version !== undefined ? current?.version === version : Date.now() - (current?.at ?? 0) < FRESH_MS;
      if (current !== undefined && fresh) return current.known;
      if (reading === undefined || reading.version !== version) reading = begin(version);
      const known = await reading.known;
      ctx.signal.throwIfAborted();
      return known;
    },
    forget() {
      current = undefined;
      reading = undefined;
    },
  };
}

async function filtered(
  { tables }: Catalogue,
  { tables: globs, views }: Pick<SqlConfig, 'tables' | 'views'>,
): Promise<readonly Table[]> {
  const include = compileGlobs(globs?.include, 'text')?.matches;
  const exclude = compileGlobs(globs?.exclude, 'text')?.mayMatch;
  return tables.filter(
    (table) =>
      (views || table.kind === 'table') && isNamed(table, include) !== false && isNamed(table, exclude) !== true,
  );
}

/** Whether a glob matches the name of a table, or `schema.table`; undefined if there are no globs. */
const isNamed = ({ schema, name }: TableName, fits: ((text: string) => boolean) | undefined): boolean | undefined =>
  fits && (fits(name) || (schema !== undefined && fits(`${schema}.${name}`)));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Makes the catalogue of these tables. Foreign keys that refer to none of them are left out. */
export function knownOf(all: readonly Table[]): ShownCatalogue {
  const keyOf = (schema: string | undefined, name: string): string => JSON.stringify([schema ?? null, name]);
  const named = new Map(all.map((table) => [keyOf(table.schema, table.name), table]));
  const find = (schema: string | undefined, name: string): Table | undefined => named.get(keyOf(schema, name));

  /**
   * Returns a foreign key with the columns that it refers to; nothing if it refers to no table of the catalogue, or to another
   * number of columns than it has.
   */
  function completed(key: ForeignKey): ForeignKey[] {
    const target = find(key.table.schema, key.table.name);
    const references = key.references.length > 0 ? key.references : (target?.primaryKey ?? []);
    return target !== undefined && references.length === key.columns.length ? [{ ...key, references }] : [];
  }

  const tables = [...all]
    .sort((a, b) => compare(a.schema ?? '', b.schema ?? '') || compare(a.name, b.name))
    .map((table): Table => {
      if (table.foreignKeys.length === 0) return table;
      const place = new Map(table.columns.map(({ name }, index) => [name, index]));
      const first = ({ columns: [name = ''] }: ForeignKey): number => place.get(name) ?? -1;
      return { ...table, foreignKeys: table.foreignKeys.flatMap(completed).sort((a, b) => first(a) - first(b)) };
    });
  for (const table of tables) named.set(keyOf(table.schema, table.name), table);
  const referring = new Map<string, { table: Table; key: ForeignKey }[]>();
  for (const table of tables) {
    for (const key of table.foreignKeys) {
      const target = keyOf(key.table.schema, key.table.name);
      referring.set(target, [...(referring.get(target) ?? []), { table, key }]);
    }
  }
  return {
    tables,
    schemas: [...new Set(tables.flatMap(({ schema }) => schema ?? []))],
    find,
    within: (schema) => tables.filter((table) => table.schema === schema),
    referring: ({ schema, name }) => referring.get(keyOf(schema, name)) ?? [],
  };
}
