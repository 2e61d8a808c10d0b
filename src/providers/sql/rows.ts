/** Reads rows of the database, with their keys and values, a page at a time. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Column, Connection, Dialect, KyselyModule, Parameter, Rows, Statement, Table, Value } from './dialect.ts';
import { encodeKey, type Key } from './keys.ts';
import type { LimitsOf } from './limits.ts';
import type { Keyed } from './place.ts';
import { createSelects, type Range } from './selects.ts';

export interface Row {
  /** Undefined if nothing in the table tells its rows apart, or if the key is too large to be fetched. */
  readonly key: Key | undefined;
  /** The key as a path segment, before percent-encoding; undefined if the row has no URI. */
  readonly segment: string | undefined;
  /** The values of the requested columns, in their order. */
  readonly values: readonly Value[];
}

export interface RowPage {
  readonly rows: readonly Row[];
  /** Whether there are more rows after the last one. */
  readonly more: boolean;
}

/** The columns that are read of each row, and how large the values may be. */
export interface RowOptions {
  /** Default: all columns of the table. */
  readonly columns?: readonly Column[];
  /** Bytes of all values. Default: `maxBytes` of the mount. */
  readonly maxBytes?: number;
  /** Bytes of one value. Default: `maxValueBytes` of the mount. */
  readonly maxValueBytes?: number;
}

export interface RowReader {
  /** @throws ResourceError `too-large` when not even one row fits */
  page(table: Table, after: Key | undefined, limit: number, options: RowOptions, ctx: Context): Promise<RowPage>;
  /**
   * Returns the row of a key; undefined if there is none. The key must be spelled as in the row, even if other
   * spellings are equal to the database.
   */
  one(table: Keyed, key: Key, options: RowOptions, ctx: Context): Promise<Row | undefined>;
  count(table: Table, ctx: Context): Promise<bigint>;
  /** Returns at most `limit` values of a key column. The values in `before` are those of the key columns before it. */
  keys(
    table: Keyed,
    before: readonly Parameter[],
    ranges: readonly Range[],
    limit: number,
    ctx: Context,
  ): Promise<readonly Parameter[]>;
  /** Runs a saved query. */
  query(statement: Statement, maxRows: number, maxBytes: number, ctx: Context): Promise<Rows>;
}

/** The bytes that a value in a key may have even if `maxValueBytes` is less. */
const MAX_KEY_BYTES = 65_536;

export function createRowReader(
  kysely: KyselyModule,
  dialect: Dialect,
  connection: Connection,
  limitsOf: LimitsOf,
): RowReader {
  const selects = createSelects(kysely, dialect);

  /** Takes the key from a fetched row. A row has none if a value of its key was too large to be fetched. */
  function keyOf(table: Table, fetched: readonly Value[]): Pick<Row, 'key' | 'segment'> {
    const { identity } = table;
    if (identity === undefined) return { key: undefined, segment: undefined };
    const values = fetched.slice(0, identity.columns.length).map(asParameter);
    if (!values.every((value) => value !== undefined)) return { key: undefined, segment: undefined };
    const tie = identity.tieBreak === undefined ? undefined : fetched[identity.columns.length];
    const tieBreak = typeof tie === 'bigint' || typeof tie === 'number' ? BigInt(tie) : undefined;
    const hasNull = values.includes(null);
    if (hasNull && tieBreak === undefined) return { key: undefined, segment: undefined };
    const key: Key = { values, ...(hasNull && { tieBreak }) };
    return { key, segment: encodeKey(key, identity) };
  }

  function rowOf(table: Table, columns: readonly Column[], fetched: readonly Value[]): Row {
    const { identity } = table;
    let at = identity === undefined ? 0 : identity.columns.length + (identity.tieBreak === undefined ? 0 : 1);
    const values = columns.map(({ sized, kind }): Value => {
      const value = fetched[at++] ?? null;
      const size = sized ? fetched[at++] : undefined;
      if (value !== null || size === null || size === undefined) return value;
      return { kind: 'left-out', bytes: Number(size), of: kind === 'text' ? 'text' : 'bytes' };
    });
    return { ...keyOf(table, fetched), values };
  }

  const projectionOf = (table: Table, options: RowOptions, ctx: Context) => {
    const columns = options.columns ?? table.columns;
    const limits = limitsOf(ctx, { maxBytes: options.maxBytes, maxValueBytes: options.maxValueBytes });
    return {
      columns,
      limits: { ...limits, maxValueBytes: Math.max(limits.maxValueBytes, MAX_KEY_BYTES) },
      maxValueBytes: limits.maxValueBytes,
    };
  };

  return {
    async page(table, after, limit, options, ctx) {
      const { columns, limits, maxValueBytes } = projectionOf(table, options, ctx);
      const statement = selects.page(table, { columns, maxValueBytes }, after, limit + 1);
      const { rows, stoppedBy } = await connection.run(statement, { ...limits, maxRows: limit });
      if (rows.length === 0 && stoppedBy === 'bytes')
        throw new ResourceError(
          'too-large',
          'A row is larger than may be read at once; if rows are listed, read its values one by one',
        );
      return { rows: rows.map((row) => rowOf(table, columns, row)), more: stoppedBy !== undefined };
    },

    async one(table, key, options, ctx) {
      const { columns, limits, maxValueBytes } = projectionOf(table, options, ctx);
      const statement = selects.one(table, { columns, maxValueBytes }, key);
      const { rows, stoppedBy } = await runForKey(connection, statement, { ...limits, maxRows: 2 });
      if (rows.length === 0 && stoppedBy === 'bytes')
        throw new ResourceError('too-large', 'The row is larger than may be read at once; read its values one by one');
      const segment = encodeKey(key, table.identity);
      return rows.map((row) => rowOf(table, columns, row)).find((row) => row.segment === segment);
    },

    async count(table, ctx) {
      const { rows } = await connection.run(selects.count(table), limitsOf(ctx, { maxRows: 1 }));
      return BigInt(Number(rows[0]?.[0] ?? 0));
    },

    async keys(table, before, ranges, limit, ctx) {
      const statement = selects.keys(table, before, ranges, limit);
      const limits = limitsOf(ctx, { maxRows: limit, maxValueBytes: MAX_KEY_BYTES });
      const { rows } = await runForKey(connection, statement, limits);
      return rows.flatMap(([value]) => asParameter(value ?? null) ?? []);
    },

    query: (statement, maxRows, maxBytes, ctx) => connection.run(statement, limitsOf(ctx, { maxRows, maxBytes })),
  };
}

/** Runs a statement that has a key. If the database refuses to compare the key, no row has it. */
async function runForKey(
  connection: Connection,
  statement: Statement,
  limits: Parameters<Connection['run']>[1],
): Promise<Rows> {
  try {
    return await connection.run(statement, limits);
  } catch (error) {
    if (error instanceof ResourceError && error.code === 'invalid')
      return { columns: [], rows: [], stoppedBy: undefined };
    throw error;
  }
}

function asParameter(value: Value): Parameter | undefined {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  return value.kind === 'json' ? value.text : undefined;
}
