/**
 * Compares the SQL provider on MariaDB with `mysql2` on its own: both with the same number of connections, and `mysql2` with
 * statements that it prepares once.
 */
import mysql from 'mysql2/promise';
import { answered, missingProgram, startMariadb } from '../lib/services.mjs';
import { AFTER, CREATE, jsonBytes, keyOf, LIST, openTable, READ, rows } from '../lib/table.mjs';
import { AT_A_TIME, ENTRIES } from '../lib/turns.mjs';

export const client = 'mysql2';

export const missing = () => missingProgram(['mariadb-install-db', 'my_print_defaults', 'mariadbd']);

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const server = await startMariadb();
  const pool = mysql.createPool({ uri: server.url, connectionLimit: AT_A_TIME });
  await answered(() => pool.query(CREATE));
  await pool.query('INSERT INTO piece VALUES ?', [rows()]);
  const ask = async (sql, value) => (await pool.execute(sql, [value]))[0];
  const list = `${LIST} WHERE id > ? ORDER BY id LIMIT ${ENTRIES}`;
  const read = `${READ} WHERE id = ?`;
  const ours = await openTable(load, { sql: server.url, uri: 'mysql:///test/piece', connections: AT_A_TIME });
  return {
    turns: {
      list: { ours: ours.list, native: async () => (await ask(list, AFTER)).length },
      read: { ours: ours.read, native: async (index) => jsonBytes((await ask(read, keyOf(index)))[0]) },
    },
    async close() {
      await ours.close();
      await pool.end();
      await server.stop();
    },
  };
}
