/**
 * Reads PostgreSQL. Each statement is the query of a cursor in a read-only transaction of its own, so that it can be
 * nothing but one SELECT, no more rows are fetched than are wanted, and nothing of it stays.
 */
import type { QueryArrayConfig, QueryArrayResult } from 'pg';
import type { Log } from '../../../core/context.ts';
import type { Limits, Rows, Statement, Value } from '../dialect.ts';
import { closedWhileReading, closing, stoppable } from '../stoppable.ts';
import { isLostConnection, postgresError, withoutClient } from './errors.ts';
import type { Connections, PoolClient } from './pool.ts';
import { type Convert, convertOf, isBytes, isKnownType, type PostgresType, sizeOf } from './values.ts';

/** Rows that are fetched at a time. */
const BATCH = 128;
/** Types that are remembered. */
const MAX_TYPES = 10_000;

/** Everything as text: it is exact, and what becomes of it is decided in one place. */
const AS_TEXT = { getTypeParser: () => (value: string) => value } as const;

/** Runs one thing after another in a transaction. */
export type Ask = (sql: string, parameters?: readonly unknown[]) => Promise<QueryArrayResult<(string | null)[]>>;

export interface Reader {
  /** Runs one SELECT. @throws ResourceError as `Connection.run` */
  select(statement: Statement, limits: Limits): Promise<Rows>;
  /** Runs statements of our own in one transaction. @throws ResourceError as `Connection.run` */
  transaction<T>(limits: Pick<Limits, 'timeoutMs' | 'signal'>, work: (ask: Ask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function postgresReader({ pool, apart }: Connections, log: Log): Reader {
  const types = new Map<number, PostgresType>();
  const closed = closing();
  /** What is being ended. */
  const endings = new Set<Promise<unknown>>();

  const later = (ending: Promise<unknown>): void => {
    const settled = ending.catch((error: unknown) =>
      log.debug('a database connection did not end well', { error: withoutClient(error) }),
    );
    endings.add(settled);
    void settled.then(() => endings.delete(settled));
  };

  async function transaction<T>(
    { timeoutMs, signal }: Pick<Limits, 'timeoutMs' | 'signal'>,
    work: (ask: Ask) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once({ timeoutMs, signal }, work);
      } catch (error) {
        if (error === signal.reason && signal.aborted) throw error;
        // A connection that was kept may have ended, as when the server was restarted. Reading it again harms nothing.
        if (attempt === 1 && isLostConnection(error)) continue;
        throw postgresError(error, timeoutMs);
      }
    }
  }

  async function once<T>(limits: Pick<Limits, 'timeoutMs' | 'signal'>, work: (ask: Ask) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    let stopped = false;

    const stop = (): void => {
      stopped = true;
      if (client !== undefined) later(cancel(client));
    };

    return await stoppable(
      { ...limits, closed: closed.signal },
      async () => {
        const connected = await pool.connect();
        if (stopped) {
          connected.release();
          throw new Error('stopped');
        }
        client = connected;
        const begun = connected.query(beginning(limits.timeoutMs));
        // What follows fails as well, and says why.
        begun.catch(() => {});
        try {
          const result = await work((text, values = []) =>
            connected.query({
              text,
              values: [...values],
              rowMode: 'array',
              types: AS_TEXT,
              // Never several statements in one text.
              queryMode: 'extended',
            } as QueryArrayConfig),
          );
          await begun;
          return result;
        } finally {
          // A connection that was stopped ends with its statement.
          if (!stopped) later(finish(connected));
          client = undefined;
        }
      },
      stop,
    );
  }

  /** Ends the transaction, whatever became of it, and gives the connection back. */
  async function finish(client: PoolClient): Promise<void> {
    try {
      // Locks that a function took for the session would stay.
      await client.query('ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all()');
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** Stops what a connection does, and the connection. */
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
      // The first failure is the one that says what is wrong.
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
    async close() {
      if (closed.signal.aborted) return;
      closed.abort(closedWhileReading());
      await Promise.all(endings);
      await pool.end();
      await Promise.all(endings);
    },
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
