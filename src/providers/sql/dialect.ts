/**
 * The interface of a database. A `Dialect` is one kind of database, a `Connection` an opened one. `selects.ts` builds the
 * SELECTs for all dialects, by Kysely with the dialect's compiler. So a connection only runs statements with bound
 * parameters, reads the catalogue, and reports changes. It cannot write, whatever a statement says.
 */
import type { Kysely, Dialect as KyselyDialect } from 'kysely';
import type { Log } from '../../core/context.ts';
import type { Caller } from '../../core/waiting/fair-queue.ts';
import type { SqlConfig } from './config.ts';

/** The library that builds statements, loaded when a database is mounted. */
export type KyselyModule = typeof import('kysely');

/** The tables of any database: their names and columns are known only at run time. */
// biome-ignore lint/suspicious/noExplicitAny: Kysely's own type for a database without a schema
export type AnyTables = any;

/** Builds statements and cannot run them: made with Kysely's `DummyDriver` and the dialect's compiler. */
export type Builder = Kysely<AnyTables>;

/** The name of a table or view. `schema` is undefined for a database without schemas, such as SQLite. */
export interface TableName {
  readonly schema: string | undefined;
  readonly name: string;
}

/**
 * The kind of the values of a column, which says how a URI writes them. `integer`: a bigint; `real`: a number; `text`: a
 * string, also for types that JavaScript lacks (dates, decimals, UUIDs, booleans); `bytes`: a Uint8Array; `any`: the column
 * has no kind, so each value is written with its own.
 */
export type ValueKind = 'integer' | 'real' | 'text' | 'bytes' | 'any';

export interface Column {
  readonly name: string;
  /** The type in the database's words, such as `numeric(10,2)`; empty if none is declared. */
  readonly type: string;
  readonly kind: ValueKind;
  readonly nullable: boolean;
  /** The default value, as the SQL that the database gives. */
  readonly default?: string | undefined;
  readonly comment?: string | undefined;
  /** Values can be large, and `octet_length()` gives their size: one over `maxValueBytes` is not fetched. */
  readonly sized?: boolean | undefined;
  /** Computed by the database. */
  readonly generated?: boolean | undefined;
}

/** A column by which rows are told apart and ordered. */
export interface KeyColumn {
  readonly name: string;
  readonly kind: ValueKind;
}

/** The columns that tell the rows of a table apart and give their order. They have an index. */
export interface Identity {
  readonly of: 'primary key' | 'unique index' | 'row id';
  /** In the order of the index. None is NULL, unless there is a `tieBreak`. */
  readonly columns: readonly KeyColumn[];
  /** The integer column that tells rows apart whose keys contain NULL: SQLite's row id, for a table whose key may be NULL. */
  readonly tieBreak?: string | undefined;
}

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly table: TableName;
  /** The columns of the other table, one for each of `columns`. Empty means its primary key: `catalogues.ts` fills that in. */
  readonly references: readonly string[];
}

export interface Index {
  readonly name: string;
  /** The columns of the index; expressions are left out. */
  readonly columns: readonly string[];
  readonly unique: boolean;
}

export interface Table extends TableName {
  readonly kind: 'table' | 'view';
  readonly comment?: string | undefined;
  readonly columns: readonly Column[];
  /** Names of the columns of the primary key, in its order; empty if there is none. */
  readonly primaryKey: readonly string[];
  /** Undefined for views and for tables without a usable key: their rows have no URIs, and only the first page is shown. */
  readonly identity: Identity | undefined;
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly Index[];
}

/** The tables of a database that this connection may read, without system tables. */
export interface Catalogue {
  /** In any order; each (schema, name) once. */
  readonly tables: readonly Table[];
}

/** Stands for a value that was not fetched, because it is larger than `maxValueBytes`. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly bytes: number;
  /** The kind of the value: bytes, or text. */
  readonly of: 'bytes' | 'text';
}

/** A value of a JSON type, or of one that is best shown as JSON (arrays, records). `text` is valid JSON. */
export interface JsonText {
  readonly kind: 'json';
  readonly text: string;
}

/**
 * A value of a result. Integers that a double holds exactly may be numbers or bigints. Values of types that JavaScript lacks are
 * texts in the database's own form (dates in ISO 8601, decimals in digits), which it compares and sorts like the values.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | LeftOut | JsonText;

/** A value that is bound to a parameter. */
export type Parameter = null | boolean | number | bigint | string | Uint8Array;

/** SQL with the placeholders of the dialect, and the values that are bound to them, in order. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** How much a statement may take. */
export interface Limits {
  /** The most rows that are given, even if there are more. */
  readonly maxRows: number;
  /** The most bytes of the values of all rows, as UTF-8. The rows end before the first one that exceeds them. */
  readonly maxBytes: number;
  /** The most bytes of one value; a larger one is given as `LeftOut`. */
  readonly maxValueBytes: number;
  /** Milliseconds that the statement may take once it has a connection. After them it is stopped, and fails with `timeout`. */
  readonly timeoutMs: number;
  /** The caller of the statement: callers that wait for a connection take turns. */
  readonly caller: Caller;
  /** Also stops the statement, which then fails with the reason of the signal. */
  readonly signal: AbortSignal;
}

export interface Rows {
  /** Names of the columns as the result has them; not unique for every query. */
  readonly columns: readonly string[];
  /** One value for each column. */
  readonly rows: readonly (readonly Value[])[];
  /** The limit that ended the rows; undefined if these are all. */
  readonly stoppedBy: 'rows' | 'bytes' | undefined;
}

/** Reports a change: in these tables, or in any table if undefined. */
export type TellChanged = (tables: readonly TableName[] | undefined) => void;

export interface Connection {
  /**
   * Runs one statement that reads. Several may run at a time: the connection queues or spreads them.
   * @throws ResourceError `timeout`, `limited` (no connection becomes free), `unavailable` (the database does not answer),
   *   `invalid` (a parameter that the database cannot take for its column, such as `abc` for a date), `not-found` (a table or
   *   column is gone), `too-large` (a value that the database cannot give), `denied`, `internal`. The message has no SQL, host or
   *   credential in it; `cause` is the database's error.
   */
  run(statement: Statement, limits: Limits): Promise<Rows>;
  /** @throws as `run` */
  catalogue(limits: Limits): Promise<Catalogue>;
  /** A text that changes with the catalogue, if it is cheap to get. Without it, the catalogue is read again after a time. */
  version?(limits: Limits): Promise<string>;
  /** Reports changes from the moment the promise resolves. Undefined if the database reports none: only polling shows any. */
  readonly watch?: ((tell: TellChanged) => Promise<AsyncDisposable>) | undefined;
  /** Ends everything, running statements too. */
  close(): Promise<void>;
}

/** The parameters for opening a database. */
export interface Opening {
  /** The absolute path, or the URL with its credentials. */
  readonly source: string;
  readonly config: SqlConfig;
  readonly log: Log;
}

export interface Dialect {
  /** The scheme of the published URIs: `sqlite`, `postgres`, `mysql`. */
  readonly scheme: string;
  /** The name for people. */
  readonly title: string;
  /** Whether tables lie in schemas. Schemas are then a level of the tree. */
  readonly hasSchemas: boolean;
  /** Whether the database uses an index for `(a, b) > (?, ?)`. If not, the comparison is written out column by column. */
  readonly comparesRows: boolean;
  /** The most columns that a result can have. */
  readonly maxColumns: number;
  /** Kysely's parts that compile statements for this database, without the part that would run them. */
  readonly compiler: (kysely: KyselyModule) => Omit<KyselyDialect, 'createDriver'>;
  /**
   * Opens the database read-only, and checks that it is one of this kind.
   * @throws ResourceError `invalid` with a message for the person who starts the server (a package to install, no such file,
   *   not a database). The message never contains a password.
   */
  readonly open: (opening: Opening) => Promise<Connection>;
}
