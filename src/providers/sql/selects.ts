/**
 * The statements over tables, for every dialect: built by Kysely, which quotes the identifiers; values are always bound.
 * Pages go on after a key, never from an offset.
 */
import type { Expression, RawBuilder, SqlBool } from 'kysely';
import { ResourceError } from '../../core/errors.ts';
import type { Builder, Column, Dialect, KyselyModule, Limits, Parameter, Statement, Table } from './dialect.ts';
import type { Key } from './keys.ts';
import type { Keyed } from './place.ts';

/** The columns to fetch of each row: first the key, then each column, and behind one that can be large its size. */
export interface Projection {
  readonly columns: readonly Column[];
  readonly maxValueBytes: Limits['maxValueBytes'];
}

/** Bounds of a key column whose values begin with something. */
export interface Range {
  readonly from: Parameter;
  readonly to?: Parameter | undefined;
}

export interface Selects {
  /**
   * Rows in the order of the key; without one, in whatever order the database has.
   * @throws ResourceError `too-large` for more columns than a result can have; `one` does as well
   */
  page(table: Table, projection: Projection, after: Key | undefined, limit: number): Statement;
  /** Two at most: there is one with this key, unless somebody changed what tells rows apart. */
  one(table: Keyed, projection: Projection, key: Key): Statement;
  count(table: Table): Statement;
  /** Values of the next column of keys whose first columns are these, each once and in order, within one of the ranges. */
  keys(table: Keyed, before: readonly Parameter[], ranges: readonly Range[], limit: number): Statement;
}

export function createSelects(kysely: KyselyModule, dialect: Dialect): Selects {
  const { sql } = kysely;
  const db: Builder = dialect.builder(kysely);
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
      throw new ResourceError('too-large', 'The table has too many columns to read rows of it; read values one by one');
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

  /** Behind the key in order. NULL comes first where keys can have it. */
  function behind(table: Keyed, key: Key): RawBuilder<unknown> {
    const { identity } = table;
    // A key without NULL is behind no row but itself, so nothing has to tell it from others.
    const broken = key.values.includes(null);
    const names = broken ? orderOf(table) : identity.columns.map(({ name }) => name);
    const values = broken ? valuesOf(key, identity) : key.values;
    if (dialect.comparesRows && !broken && names.length > 1) {
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
      const broken = key.values.includes(null);
      const names = broken ? orderOf(table) : table.identity.columns.map(({ name }) => name);
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
