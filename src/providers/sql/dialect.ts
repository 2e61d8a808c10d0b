/**
 * The interface of a database. A `Dialect` is one kind of database, a `Connection` an opened one. SELECTs over tables are
 * built once for all of them (`selects.ts`, by Kysely with the dialect's compiler): a connection only runs statements
 * with bound parameters, reads the catalogue, and tells of changes. It cannot write, whatever the statement says.
 */
import type { Kysely } from 'kysely';
import type { Log } from '../../core/context.ts';
import type { Caller } from '../../core/waiting/fair-queue.ts';
import type { SqlConfig } from './config.ts';

/** The library that builds statements, loaded when a database is mounted. */
export type KyselyModule = typeof import('kysely');

/** Tables that are known only when the program runs: any name, any columns. */
// biome-ignore lint/suspicious/noExplicitAny: Kysely's own type for a database without a schema
export type AnyTables = any;

/** Builds statements and cannot run them: made with Kysely's `DummyDriver` and the dialect's compiler. */
export type Builder = Kysely<AnyTables>;

/** A table or view. `schema` is undefined where the database has none, as SQLite. */
export interface TableName {
  readonly schema: string | undefined;
  readonly name: string;
}

/**
 * How values of a column are written in a URI. `integer`: a bigint; `real`: a number; `text`: a string, which is also how
 * values of types that JavaScript does not have go back to the database (dates, decimals, UUIDs, booleans); `bytes`: a
 * Uint8Array; `any`: not said, so that each value tells its type.
 */
export type ValueKind = 'integer' | 'real' | 'text' | 'bytes' | 'any';

export interface Column {
  readonly name: string;
  /** As the database calls it, such as `numeric(10,2)`; empty where none is declared. */
  readonly type: string;
  readonly kind: ValueKind;
  readonly nullable: boolean;
  /** The default as SQL, as the database gives it. */
  readonly default?: string | undefined;
  readonly comment?: string | undefined;
  /** `octet_length()` works on it, and values can be large: one over `maxValueBytes` is then not fetched. */
  readonly sized?: boolean | undefined;
  /** Computed by the database. */
  readonly generated?: boolean | undefined;
}

/** A column that rows are told apart and ordered by. */
export interface KeyColumn {
  readonly name: string;
  readonly kind: ValueKind;
}

/** The columns that tell the rows of a table apart, and give their order: there is an index on them. */
export interface Identity {
  readonly of: 'primary key' | 'unique index' | 'row id';
  /** In the order of the index. None is NULL, unless there is a `tieBreak`. */
  readonly columns: readonly KeyColumn[];
  /** An integer column that tells rows apart whose key has a NULL in it: SQLite's row id, where a key may be NULL. */
  readonly tieBreak?: string | undefined;
}

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly table: TableName;
  /** Columns of that table, one for each of `columns`. */
  readonly references: readonly string[];
}

export interface Index {
  readonly name: string;
  /** Expressions are left out. */
  readonly columns: readonly string[];
  readonly unique: boolean;
}

export interface Table extends TableName {
  readonly kind: 'table' | 'view';
  readonly comment?: string | undefined;
  readonly columns: readonly Column[];
  /** Names of its columns, in the order of the key; empty where there is none. */
  readonly primaryKey: readonly string[];
  /** Undefined: rows have no URI, and no more than the first page is shown (views, and some tables without a key). */
  readonly identity: Identity | undefined;
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly Index[];
}

/** The tables of a database that this connection may read, without system tables. */
export interface Catalogue {
  /** In any order; each (schema, name) once. */
  readonly tables: readonly Table[];
}

/** Bytes that were not fetched, because a value is larger than `maxValueBytes`. */
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
 * A value of a result. Integers that a double holds exactly may be numbers or bigints. What JavaScript has no type for is
 * text in the database's own form that sorts and compares as it does (dates in ISO 8601, decimals in digits).
 */
export type Value = null | boolean | number | bigint | string | Uint8Array | LeftOut | JsonText;

/** A value that is bound to a parameter. */
export type Parameter = null | boolean | number | bigint | string | Uint8Array;

/** SQL with the placeholders of the dialect, and what is bound to them in order. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** How much a statement may take. */
export interface Limits {
  /** Rows that are given at most; there may be more. */
  readonly maxRows: number;
  /** Bytes of the values of all rows, as UTF-8; the row that goes over it is the first that is not given. */
  readonly maxBytes: number;
  /** Bytes of one value; a larger one is `LeftOut`. */
  readonly maxValueBytes: number;
  /** Milliseconds from when it has a connection; then the statement is stopped in the database, and fails with `timeout`. */
  readonly timeoutMs: number;
  /** Who it is for: those who wait for a connection take turns. */
  readonly caller: Caller;
  /** Stops it too; it then fails with the signal's reason. */
  readonly signal: AbortSignal;
}

export interface Rows {
  /** Names of the columns as the result has them; not unique for every query. */
  readonly columns: readonly string[];
  /** One value for each column. */
  readonly rows: readonly (readonly Value[])[];
  /** Which limit ended the rows, where there are more. */
  readonly stoppedBy: 'rows' | 'bytes' | undefined;
}

/** Something was changed: in these tables only, or, where that is not known, anywhere. */
export type TellChanged = (tables: readonly TableName[] | undefined) => void;

export interface Connection {
  /**
   * Runs one statement that reads. More than one at a time may be asked for; the connection queues or spreads them.
   * @throws ResourceError `timeout`, `limited` (no connection becomes free), `unavailable` (the database does not answer), `invalid` (a parameter that
   *   the database cannot take for its column, such as `abc` for a date), `not-found` (a table or column is gone),
   *   `denied`, `internal`; with no SQL, host or credential in the message, and the database's own error as `cause`
   */
  run(statement: Statement, limits: Limits): Promise<Rows>;
  /** @throws as `run` */
  catalogue(limits: Limits): Promise<Catalogue>;
  /** A text that changes with the catalogue, where it is cheap to ask for; else the catalogue is read again after a time. */
  version?(limits: Limits): Promise<string>;
  /** Tells of changes from the moment the promise resolves; undefined where the database cannot (then it is polled). */
  readonly watch?: ((tell: TellChanged) => Promise<AsyncDisposable>) | undefined;
  /** Ends everything, running statements too. */
  close(): Promise<void>;
}

/** The parameters for opening a database. */
export interface Opening {
  /** The path, made absolute, or the URL, with its credentials. */
  readonly source: string;
  readonly config: SqlConfig;
  readonly log: Log;
}

export interface Dialect {
  /** Of the URIs that are published: `sqlite`, `postgres`, `mysql`. */
  readonly scheme: string;
  /** As people call it. */
  readonly title: string;
  /** Whether tables lie in schemas; one is then a level of the tree. */
  readonly hasSchemas: boolean;
  /** It finds `(a, b) > (?, ?)` by an index on both; else the comparison is written out. */
  readonly comparesRows: boolean;
  /** Columns that a result can have. */
  readonly maxColumns: number;
  /** Builds statements for it. */
  readonly builder: (kysely: KyselyModule) => Builder;
  /**
   * Opens it read-only, and makes sure that it is one of these.
   * @throws ResourceError `invalid` with a message for whoever starts the server (the package to install, no such file, not
   *   a database); never with a password in it
   */
  readonly open: (opening: Opening) => Promise<Connection>;
}
