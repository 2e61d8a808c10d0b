/** Results of a database: a file of SQLite, which is read in a process of its own. */
import { join } from 'node:path';
import { temporaryFolder } from '../lib/folders.mjs';

const MIB = 1024 * 1024;

export async function sqlCases() {
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const file = join(temporaryFolder(), 'hostile.sqlite');
  const database = new DatabaseSync(file);
  const columns = Array.from({ length: 1_900 }, (_, at) => `c${at}`);
  database.exec(`
    CREATE TABLE giant (id INTEGER PRIMARY KEY, value TEXT, bytes BLOB);
    CREATE TABLE json (id INTEGER PRIMARY KEY, value JSON);
    CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.join(', ')});
    CREATE VIEW same AS SELECT ${columns.map((name) => `${name} AS 'same'`).join(', ')} FROM wide;
    CREATE TABLE keys (id TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE rows (id INTEGER PRIMARY KEY, value TEXT);
  `);
  database.prepare('INSERT INTO giant VALUES (1, ?, ?)').run('x'.repeat(100 * MIB), Buffer.alloc(100 * MIB));
  database.prepare('INSERT INTO json VALUES (1, ?)').run(`[${'{},'.repeat(1_200_000)}0]`);
  database.exec(`INSERT INTO wide (id, c0) VALUES (1, 'a')`);
  database.prepare('INSERT INTO keys VALUES (?)').run('k'.repeat(MIB));
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT INTO rows SELECT i, '&|,"' FROM n;
  `);
  database.exec(Array.from({ length: 3_000 }, (_, at) => `CREATE TABLE t${at} (id INTEGER PRIMARY KEY)`).join(';'));
  database.close();
  const mounts = {
    db: {
      sql: file,
      prefix: 'none',
      queries: {
        twins: { sql: `SELECT ${columns.map(() => '1 AS same').join(', ')}` },
        all: { sql: 'SELECT * FROM rows', maxRows: 10_000 },
      },
    },
  };
  const read = (uri, type) => [
    'resources/read',
    { uri, ...(type !== undefined && { _meta: { 'vitrine/accept': [type] } }) },
  ];
  return Object.entries({
    'a giant cell': [read('sqlite:///giant/1'), read('sqlite:///giant/1/value'), read('sqlite:///giant/1/bytes')],
    'a column of JSON': [read('sqlite:///json/1'), read('sqlite:///json/1/value')],
    'many columns': [read('sqlite:///wide'), read('sqlite:///wide/1')],
    'many columns of one name': [
      read('sqlite:///same'),
      read('sqlite:///~queries/twins', 'application/json'),
      read('sqlite:///~queries/twins', 'text/csv'),
    ],
    'a long key': [['resources/list', { uri: 'sqlite:///keys' }]],
    'many rows': [
      read('sqlite:///rows'),
      read('sqlite:///~queries/all', 'application/json'),
      read('sqlite:///~queries/all', 'text/markdown'),
    ],
    'many tables': [['resources/list', { uri: 'sqlite:///' }]],
  }).map(([name, ask]) => ({ name: `SQLite: ${name}`, mounts, ask }));
}
