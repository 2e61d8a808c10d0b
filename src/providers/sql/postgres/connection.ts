/**
 * Reads PostgreSQL. Each statement is the query of a cursor, in a read-only transaction of its own. So it can only be one
 * SELECT, no more rows are fetched than are wanted, and it leaves nothing behind.
 */
import type { QueryArrayConfig, QueryArrayResult } from 'pg';
import type { Log } from '../../../core/context.ts';
import type { Limits, Rows, Statement, Value } from '../dialect.ts';
import { createLending, type Lent } from '../lending.ts';
import { isLostConnection, postgresError, withoutClient } from './errors.ts';
import type { Connections, PoolClient } from './pool.ts';
import { type Convert, convertOf, isBytes, isKnownType, type PostgresType, sizeOf } from './values.ts';

/** Rows that are fetched at a time. */
const BATCH = 128;
/** The most types that are remembered. */
const MAX_TYPES = 10_000;

/** Leaves every value as the text that the server sent: it is exact, and `convertOf` alone decides what becomes of it. */
const AS_TEXT = { getTypeParser: () => (value: string) => value } as const;

/** Runs a statement in a transaction, after the statements that came before. */
export type Ask = (sql: string, parameters?: readonly unknown[]) => Promise<QueryArrayResult<(string | null)[]>>;

export interface Reader {
  /** Runs one SELECT. @throws ResourceError as `Connection.run` */
  select(statement: Statement, limits: Limits): Promise<Rows>;
  /** Runs statements of our own in one transaction. @throws ResourceError as `Connection.run` */
  transaction<T>(limits: Lent, work: (ask: Ask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function postgresReader({ pool, apart, queue }: Connections, log: Log): Reader {
  const types = new Map<number, PostgresType>();
  const { lend, close } = createLending<PoolClient>(queue, {
    connect: () => pool.connect(),
    giveBack: (client) => client.release(),
    clean,
    cancel,
    isLost: isLostConnection,
    errorOf: postgresError,
    end: () => pool.end(),
    onFault: (error) => log.debug('a database connection did not end well', { error: withoutClient(error) }),
  });

  const transaction = <T>(limits: Lent, work: (ask: Ask) => Promise<T>): Promise<T> =>
    lend(limits, async (client) => {
      const begun = client.query(beginning(limits.timeoutMs));
      // If BEGIN fails, the statements after it fail too, and say why.
      begun.catch(() => {});
      const result = await work((text, values = []) =>
        client.query({
          text,
          values: [...values],
          rowMode: 'array',
          types: AS_TEXT,
          // The extended protocol refuses several statements in one text.
          queryMode: 'extended',
        } as QueryArrayConfig),
      );
      await begun;
      return result;
    });

  /**
   * Resets the session to its state at the start, however its transaction ended. Ending the transaction is not enough: a
   * function can also take locks and prepare statements that belong to the session.
   */
  async function clean(client: PoolClient): Promise<void> {
    try {
      const ended = client.query('ROLLBACK');
      ended.catch(() => {});
      // PostgreSQL refuses DISCARD ALL in one text with another statement.
      await client.query('DISCARD ALL');
      await ended;
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Cancels the running statement of a connection, and closes the connection. */
  async function cancel(client: PoolClient): Promise<void> {
    const { processID } = client as unknown as { readonly processID: number };
    const other = apart();
    other.on('error', () => {});
    try {
      await other.connect();
      await other.query('SELECT pg_catalog.pg_cancel_backend($1)', [processID]);
    } finally {
      client.release(true);
      await other.end();
    }
  }

  /** Looks up the types that are not known yet, and then the types of their elements. */
  async function learn(oids: readonly number[], ask: Ask): Promise<void> {
    const unknown = oids.filter((oid) => oid !== 0 && !isKnownType(oid) && !types.has(oid));
    if (unknown.length === 0) return;
    if (types.size > MAX_TYPES) types.clear();
    const { rows } = await ask(
      `SELECT oid, CASE WHEN typcategory = 'A' THEN typelem ELSE 0 END, typdelim, typbasetype
       FROM pg_catalog.pg_type WHERE oid = ANY($1)`,
      [unknown],
    );
    for (const [oid, element, delimiter, base] of rows) {
      types.set(Number(oid), { element: Number(element), delimiter: delimiter ?? ',', base: Number(base) });
    }
    await learn(
      rows.map(([, element]) => Number(element)),
      ask,
    );
  }

  async function select({ sql, parameters }: Statement, limits: Limits): Promise<Rows> {
    return await transaction(limits, async (ask) => {
      const wanted = limits.maxRows + 1;
      const declared = ask(`DECLARE vitrine NO SCROLL CURSOR FOR ${sql}`, parameters);
      const first = ask(`FETCH ${Math.min(wanted, BATCH)} FROM vitrine`);
      // If DECLARE fails, its error says what is wrong; that of FETCH does not.
      first.catch(() => {});
      await declared;
      let { rows: batch, fields } = await first;
      const oids = fields.map(({ dataTypeID }) => dataTypeID);
      await learn(oids, ask);
      const converts = oids.map((oid) => convertOf(oid, (other) => types.get(other)));
      const columns = fields.map(({ name }) => name);
      const rows: (readonly Value[])[] = [];
      let bytes = 0;
      for (;;) {
        for (const raw of batch) {
          if (rows.length === limits.maxRows) return { columns, rows, stoppedBy: 'rows' };
          bytes += raw.reduce((sum, value, i) => sum + countedSize(oids[i] ?? 0, value, limits), 0);
          if (bytes > limits.maxBytes) return { columns, rows, stoppedBy: 'bytes' };
          rows.push(raw.map((value, i) => readValue(oids[i] ?? 0, value, converts[i], limits)));
        }
        if (batch.length < BATCH) return { columns, rows, stoppedBy: undefined };
        ({ rows: batch } = await ask(`FETCH ${Math.min(wanted - rows.length, BATCH)} FROM vitrine`));
      }
    });
  }

  return {
    select,
    transaction,
    close,
  };
}

const beginning = (timeoutMs: number): string =>
  [
    'BEGIN TRANSACTION READ ONLY',
    `SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}`,
    'SET LOCAL idle_in_transaction_session_timeout = 60000',
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    'SET LOCAL bytea_output = hex',
    'SET LOCAL extra_float_digits = 1',
  ].join('; ');

function countedSize(oid: number, value: string | null, { maxValueBytes }: Limits): number {
  if (value === null) return 0;
  const bytes = sizeOf(oid, value);
  return bytes > maxValueBytes ? 0 : bytes;
}

function readValue(oid: number, value: string | null, convert: Convert | undefined, { maxValueBytes }: Limits): Value {
  if (value === null) return null;
  const bytes = sizeOf(oid, value);
  if (bytes > maxValueBytes) return { kind: 'left-out', bytes, of: isBytes(oid) ? 'bytes' : 'text' };
  return convert === undefined ? value : convert(value);
}
