/**
 * The program of the process that opens the database. It is a text, so that it is the same whether Vitrine runs from
 * its sources, the package, or a bundle. SQLite blocks its caller and cannot be interrupted, so it runs in its own
 * process, which can be ended.
 *
 * The program cannot write: it opens the file for reading, and the authorizer allows only statements that read. It
 * attaches no other file, and loads no code. Definitions in the file (views, generated columns) are untrusted.
 */

/** The actions that are allowed, as numbers of SQLite's authorizer: SELECT, READ, FUNCTION, RECURSIVE. */
const READING = [21, 20, 31, 33];

/** PRAGMAs that describe the database. */
const PRAGMAS = [
  'table_list',
  'table_info',
  'table_xinfo',
  'foreign_key_list',
  'index_list',
  'index_info',
  'index_xinfo',
  'schema_version',
  'data_version',
];

/** Functions that reach outside the database. */
const FUNCTIONS = ['load_extension', 'fts3_tokenizer', 'readfile', 'writefile', 'edit'];

/** Milliseconds to wait for a writer without a write-ahead log. */
const BUSY_MS = 2_000;

/** Rows are sent in parts of this many rows or bytes, since receiving one large message blocks. */
const PART_ROWS = 2_000;
const PART_BYTES = 256 * 1024;

export const PROGRAM = `
'use strict';
const { DatabaseSync } = require(process.argv[1]);
const file = process.argv[2];
const READING = new Set(${JSON.stringify(READING)});
const PRAGMAS = new Set(${JSON.stringify(PRAGMAS)});
const FUNCTIONS = new Set(${JSON.stringify(FUNCTIONS)});
const PRAGMA = 19, FUNCTION = 31, DENY = 1, OK = 0;
let database;
let version;
let timer;

function allow(action, first, second) {
  if (action === PRAGMA) return PRAGMAS.has(String(first).toLowerCase()) ? OK : DENY;
  if (action === FUNCTION && FUNCTIONS.has(String(second).toLowerCase())) return DENY;
  return READING.has(action) ? OK : DENY;
}

function open() {
  if (database !== undefined) return database;
  const opened = new DatabaseSync(file, {
    readOnly: true, allowExtension: false, enableDoubleQuotedStringLiterals: false, timeout: ${BUSY_MS},
    readBigInts: true, returnArrays: true,
  });
  try {
    opened.enableDefensive?.(true);
    opened.exec('PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0');
    opened.prepare('SELECT count(*) FROM sqlite_schema').all();
    opened.setAuthorizer(allow);
  } catch (error) {
    opened.close();
    throw error;
  }
  return (database = opened);
}

function sizeOf(value) {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return value instanceof Uint8Array ? value.byteLength : 8;
}

function run({ sql, parameters, maxRows, maxBytes, maxValueBytes }) {
  const statement = open().prepare(sql);
  const columns = statement.columns().map(({ name }) => name);
  if (columns.length === 0) throw Object.assign(new Error('not a query'), { errcode: 23 });
  let rows = [];
  let given = 0;
  let sent = 0;
  let bytes = 0;
  for (const row of statement.iterate(...parameters)) {
    if (given >= maxRows) return { columns, rows, stoppedBy: 'rows' };
    for (let at = 0; at < row.length; at++) {
      const size = sizeOf(row[at]);
      if (size > maxValueBytes) row[at] = { kind: 'left-out', bytes: size, of: typeof row[at] === 'string' ? 'text' : 'bytes' };
      bytes += size > maxValueBytes ? 8 : size;
    }
    if (bytes > maxBytes) return { columns, rows, stoppedBy: 'bytes' };
    rows.push(row);
    given++;
    if (rows.length < ${PART_ROWS} && bytes - sent < ${PART_BYTES}) continue;
    process.send({ part: rows });
    rows = [];
    sent = bytes;
  }
  return { columns, rows, stoppedBy: undefined };
}

function look() {
  try {
    const now = open().prepare('PRAGMA data_version').all()[0][0];
    if (version !== undefined && version !== now) process.send({ changed: true });
    version = now;
  } catch {
    version = undefined;
  }
}

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  if (message.watch !== undefined) {
    clearInterval(timer);
    timer = undefined;
    version = undefined;
    if (message.watch > 0) {
      look();
      timer = setInterval(look, message.watch);
    }
    return process.send({ watching: message.watch });
  }
  try {
    process.send({ result: run(message) });
  } catch (error) {
    process.send({ error: { message: String(error.message), errcode: error.errcode, code: error.code } });
  }
});
process.send({ ready: true });
`;
