/**
 * Builds the statements that read tables, for every dialect, with Kysely. Kysely quotes the identifiers, and all values
 * are bound. A page continues after a key, never at an offset.
 */
import type { Driver, Expression, RawBuilder, SqlBool } from 'kysely';
import { ResourceError } from '../../core/errors.ts';
import type { Builder, Column, Dialect, KyselyModule, Limits, Parameter, Statement, Table } from './dialect.ts';
import type { Key } from './keys.ts';
import type { Keyed } from './place.ts';

/** The columns to fetch of each row. The result has the key first, then each column. The size follows a column that can be large. */
export interface Projection {
  readonly columns: readonly Column[];
  readonly maxValueBytes: Limits['maxValueBytes'];
}

/** Bounds of a key column that hold all values with a given beginning. */
export interface Range {
  readonly from: Parameter;
  readonly to?: Parameter | undefined;
}

export interface Selects {
  /**
   * Selects rows in the order of the key; without a key, in any order.
   * @throws ResourceError `too-large` for more columns than a result can have; so does `one`
   */
  page(table: Table, projection: Projection, after: Key | undefined, limit: number): Statement;
  /** Selects at most two rows. There are two only if the identity of the table has changed meanwhile. */
  one(table: Keyed, projection: Projection, key: Key): Statement;
  count(table: Table): Statement;
  /** Selects the distinct values of the key column that follows `before`, in order. Each lies within one of the ranges. */
  keys(table: Keyed, before: readonly Parameter[], ranges: readonly Range[], limit: number): Statement;
}

export function createSelects(kysely: KyselyModule, dialect: Dialect): Selects {
  const { sql, Kysely, DummyDriver } = kysely;
  const createDriver = (): Driver => new DummyDriver();
  const db: Builder = new Kysely({ dialect: { ...dialect.compiler(kysely), createDriver } });
  const at = (name: string): RawBuilder<unknown> => sql.id('t', name);
  const from = ({ schema, name }: Table) =>
    db.selectFrom((schema === undefined ? sql.id(name) : sql.id(schema, name)).as(sql.id('t')));

  const orderOf = ({ identity }: Table): readonly string[] =>
    identity === undefined
      ? []
      : [...identity.columns.map(({ name }) => name), ...(identity.tieBreak === undefined ? [] : [identity.tieBreak])];

  const valuesOf = (key: Key, identity: Keyed['identity']): readonly (Parameter | undefined)[] => [
    ...key.values,
    ...(identity.tieBreak === undefined ? [] : [key.tieBreak]),
  ];

  function selected(table: Table, { columns, maxValueBytes }: Projection): RawBuilder<unknown>[] {
    const order = orderOf(table);
    if (order.length + columns.reduce((sum, { sized }) => sum + (sized ? 2 : 1), 0) > dialect.maxColumns)
      throw new ResourceError('too-large', 'The table has too many columns to read a whole row; read single values');
    const keys = order.map(at);
    const most = sql.lit(maxValueBytes);
    const values = columns.flatMap(({ name, sized }) => {
      const column = at(name);
      if (!sized) return [column];
      const size = sql`octet_length(${column})`;
      return [sql`case when ${size} > ${most} then null else ${column} end`, size];
    });
    return [...keys, ...values];
  }

  const select = (table: Table, projection: Projection) =>
    from(table).select(selected(table, projection).map((each, index) => each.as(`c${index}`)));

  const all = (conditions: readonly RawBuilder<unknown>[], word: 'and' | 'or'): RawBuilder<unknown> =>
    sql`(${sql.join(conditions, sql.raw(` ${word} `))})`;

  const equals = (name: string, value: Parameter | undefined): RawBuilder<unknown> =>
    value === null || value === undefined ? sql`${at(name)} is null` : sql`${at(name)} = ${value}`;

  const exceeds = (name: string, value: Parameter | undefined): RawBuilder<unknown> =>
    value === null || value === undefined ? sql`${at(name)} is not null` : sql`${at(name)} > ${value}`;

  /** The condition for rows after the key. NULL sorts first, if keys can contain it. */
  function behind(table: Keyed, key: Key): RawBuilder<unknown> {
    const { identity } = table;
    // Only keys with NULL can be shared by several rows, so only they need the tie break.
    const hasNull = key.values.includes(null);
    const names = hasNull ? orderOf(table) : identity.columns.map(({ name }) => name);
    const values = hasNull ? valuesOf(key, identity) : key.values;
    if (dialect.comparesRows && !hasNull && names.length > 1) {
      return sql`(${sql.join(names.map(at))}) > (${sql.join(values.map((value) => sql`${value}`))})`;
    }
    const ways = names.map((name, index) =>
      all(
        [...names.slice(0, index).map((each, place) => equals(each, values[place])), exceeds(name, values[index])],
        'and',
      ),
    );
    return all(ways, 'or');
  }

  const condition = (builder: RawBuilder<unknown>): Expression<SqlBool> => builder as RawBuilder<SqlBool>;

  const compiled = (query: { compile(): { sql: string; parameters: readonly unknown[] } }): Statement => {
    const { sql: text, parameters } = query.compile();
    return { sql: text, parameters: parameters as readonly Parameter[] };
  };

  return {
    page(table, projection, after, limit) {
      let query = select(table, projection).limit(sql.lit(limit));
      for (const name of orderOf(table)) query = query.orderBy(at(name));
      return compiled(
        after === undefined || table.identity === undefined
          ? query
          : query.where(condition(behind({ ...table, identity: table.identity }, after))),
      );
    },
    one(table, projection, key) {
      const hasNull = key.values.includes(null);
      const names = hasNull ? orderOf(table) : table.identity.columns.map(({ name }) => name);
      const values = valuesOf(key, table.identity);
      const same = names.map((name, index) => equals(name, values[index]));
      return compiled(
        select(table, projection)
          .where(condition(all(same, 'and')))
          .limit(sql.lit(2)),
      );
    },
    count: (table) => compiled(from(table).select(sql`count(*)`.as('c0'))),
    keys(table, before, ranges, limit) {
      const names = table.identity.columns.map(({ name }) => name);
      const next = at(names[before.length] ?? '');
      const same = before.map((value, index) => equals(names[index] ?? '', value));
      const within = ranges.map(({ from: low, to }) =>
        all([sql`${next} >= ${low}`, ...(to === undefined ? [] : [sql`${next} <= ${to}`])], 'and'),
      );
      const conditions = [...same, sql`${next} is not null`, ...(within.length === 0 ? [] : [all(within, 'or')])];
      const query = from(table)
        .select(next.as('c0'))
        .distinct()
        .where(condition(all(conditions, 'and')));
      return compiled(query.orderBy(next).limit(sql.lit(limit)));
    },
  };
}
