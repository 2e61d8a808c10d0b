/**
 * Reads MySQL and MariaDB. Each statement runs in a read-only transaction of its own, in a session in which nothing of an
 * earlier statement is left. Such a transaction does not stop `SELECT … INTO OUTFILE` or `SET`. So the server first has to
 * prepare the statement as a table in a FROM clause, which only a single SELECT can be.
 */
import type { EventEmitter } from 'node:events';
import type { FieldPacket } from 'mysql2';
import type { Log } from '../../../core/context.ts';
import type { Limits, Parameter, Rows, Statement, Value } from '../dialect.ts';
import { createLending, type Lent, type Work } from '../lending.ts';
import { isLostConnection, mysqlError } from './errors.ts';
import type { Connections, PoolConnection } from './pool.ts';
import { boundValue, readValue, sizeOf } from './values.ts';

/** The most statements that are remembered as single SELECTs; the oldest is forgotten first. */
const MAX_CHECKED = 1_000;
/** "Duplicate column name": a result may have two columns of one name, a table may not. The statement itself is valid then. */
const DUPLICATE_COLUMN = 1060;
/** A statement that ends with a LIMIT. One that may have a comment does not count, because the LIMIT may be in it. */
const OWN_LIMIT = /^(?!.*(?:--|#|\/\*)).*\blimit \d+$/is;

/** Runs a statement of our own with texts as its parameters, and returns the rows. */
export type Ask = (sql: string, parameters?: readonly string[]) => Promise<readonly (readonly unknown[])[]>;

/** The settings of a session for the statements that follow. */
interface Settings {
  readonly timeoutMs: number;
  /** The most rows of a result: the server stops after one more. `own`: the statement ends with a LIMIT, which the server obeys. */
  readonly maxRows: number | 'all' | 'own';
}

type ReadingLimits = Lent & Settings;

export interface Reader {
  /** Runs one SELECT. @throws ResourceError as `Connection.run` */
  select(statement: Statement, limits: Limits): Promise<Rows>;
  /** Runs statements of our own in one transaction. @throws ResourceError as `Connection.run` */
  transaction<T>(limits: Lent, work: (ask: Ask) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function mysqlReader({ pool, apart, queue }: Connections, log: Log): Reader {
  /** The settings that were last sent to the session of each connection. */
  const sessions = new WeakMap<object, Settings>();
  const checked = new Set<string>();
  const { lend, close } = createLending<PoolConnection>(queue, {
    connect: () => pool.getConnection(),
    giveBack: (connection) => connection.release(),
    clean,
    cancel,
    isLost: isLostConnection,
    errorOf: mysqlError,
    end: () => pool.end(),
    onFault: (error) => log.debug('a database connection did not end well', { error }),
  });

  const reading = <T>(limits: ReadingLimits, work: Work<PoolConnection, T>): Promise<T> =>
    lend(limits, async (connection, leave) => {
      const before = sessions.get(connection.connection);
      if (before?.timeoutMs !== limits.timeoutMs || (limits.maxRows !== 'own' && before.maxRows !== limits.maxRows))
        await configure(connection, limits);
      await connection.query('START TRANSACTION READ ONLY');
      return await work(connection, leave);
    });

  /** Sends the settings to the session of a connection. */
  async function configure(connection: PoolConnection, { timeoutMs, maxRows }: Settings): Promise<void> {
    const { connection: session } = connection;
    const time = isMariadb(session)
      ? `max_statement_time = ${timeoutMs / 1_000}`
      : `max_execution_time = ${Math.ceil(timeoutMs)}`;
    const rows = typeof maxRows === 'number' ? maxRows + 1 : 'DEFAULT';
    await connection.query(`SET NAMES utf8mb4, SESSION time_zone = '+00:00', ${time}, sql_select_limit = ${rows}`);
    sessions.set(session, { timeoutMs, maxRows });
  }

  /**
   * Resets the session to its state at the start, however its transaction ended: a SELECT can take locks, set variables and
   * call functions with other effects. Then sends the same settings again, since the next reading probably needs them.
   */
  async function clean(connection: PoolConnection): Promise<void> {
    try {
      const settings = sessions.get(connection.connection);
      sessions.delete(connection.connection);
      await connection.reset();
      if (settings !== undefined) await configure(connection, settings);
      connection.release();
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /** Kills the running statement of a connection, and closes the connection. */
  async function cancel(connection: PoolConnection): Promise<void> {
    try {
      const other = await apart();
      try {
        await other.query(`KILL QUERY ${Number(connection.threadId)}`);
      } finally {
        other.destroy();
      }
    } finally {
      connection.destroy();
    }
  }

  /** Checks a statement. @throws the error of the server if it is not a single SELECT */
  async function check(connection: PoolConnection, sql: string): Promise<void> {
    if (checked.has(sql)) return;
    try {
      // The line break ends a comment at the end of the statement.
      const statement = await connection.prepare(`SELECT * FROM (${sql}\n) AS vitrine LIMIT 0`);
      await statement.close();
    } catch (error) {
      if ((error as { readonly errno?: unknown }).errno !== DUPLICATE_COLUMN) throw error;
    }
    const [oldest] = checked;
    if (checked.size >= MAX_CHECKED && oldest !== undefined) checked.delete(oldest);
    checked.add(sql);
  }

  async function select({ sql, parameters }: Statement, limits: Limits): Promise<Rows> {
    const { timeoutMs, signal, caller } = limits;
    // Rows are also counted below, because the LIMIT may be larger than `maxRows`.
    const readingLimits: ReadingLimits = {
      timeoutMs,
      signal,
      caller,
      maxRows: OWN_LIMIT.test(sql) ? 'own' : limits.maxRows,
    };
    return await reading(readingLimits, async (connection, leave) => {
      await check(connection, sql);
      return await new Promise<Rows>((resolve, reject) => {
        const rows: (readonly Value[])[] = [];
        let fields: readonly FieldPacket[] = [];
        let bytes = 0;
        let stoppedBy: Rows['stoppedBy'];
        const done = (): void => resolve({ columns: fields.map(({ name }) => name), rows, stoppedBy });
        const running = evented(connection).execute({ sql, values: parameters.map(boundValue) });
        running.on('fields', (found: readonly FieldPacket[]) => {
          fields = found;
        });
        running.on('result', (raw: readonly unknown[]) => {
          if (stoppedBy !== undefined) {
            // The limit is reached, and the server still sends rows.
            leave();
            return done();
          }
          bytes += raw.reduce((sum: number, value) => sum + countedSize(value, limits), 0);
          if (rows.length === limits.maxRows) stoppedBy = 'rows';
          else if (bytes > limits.maxBytes) stoppedBy = 'bytes';
          else rows.push(raw.map((value, i) => readValue(value, fields[i] ?? {}, limits)));
        });
        running.on('error', reject);
        running.on('end', done);
      });
    });
  }

  return {
    select,
    transaction: (limits, work) =>
      reading({ ...limits, maxRows: 'all' }, (connection) =>
        work(async (sql, values = []) => {
          const [rows] = await connection.execute(sql, [...values]);
          return rows as unknown as readonly (readonly unknown[])[];
        }),
      ),
    close,
  };
}

/** The connection below the promise API, which emits each row as it arrives. */
const evented = (connection: PoolConnection) =>
  connection.connection as unknown as {
    execute(options: { readonly sql: string; readonly values: readonly Parameter[] }): EventEmitter;
  };

/** MariaDB names itself in the server version of the first packet. */
const isMariadb = (session: object): boolean => {
  const { _handshakePacket: greeting } = session as { readonly _handshakePacket?: { readonly serverVersion?: string } };
  return /mariadb/i.test(greeting?.serverVersion ?? '');
};

function countedSize(value: unknown, { maxValueBytes }: Limits): number {
  const bytes = sizeOf(value);
  return bytes > maxValueBytes ? 0 : bytes;
}
