/** PostgreSQL beside `pg`, with as many connections and statements that are prepared once. */
import pg from 'pg';
import { answered, missingProgram, startPostgres } from '../lib/services.mjs';
import { AFTER, CREATE, jsonBytes, keyOf, LIST, openTable, READ, rows } from '../lib/table.mjs';
import { AT_A_TIME, ENTRIES } from '../lib/turns.mjs';

export const client = 'pg';

export const missing = () => missingProgram(['initdb', 'postgres']);

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: AT_A_TIME });
  await answered(() => pool.query(CREATE));
  for (const row of rows()) await pool.query('INSERT INTO piece VALUES ($1, $2, $3)', row);
  await pool.query('ANALYZE piece');
  const ask = (name, text, value) => pool.query({ name, text, values: [value] });
  const list = `${LIST} WHERE id > $1 ORDER BY id LIMIT ${ENTRIES}`;
  const read = `${READ} WHERE id = $1`;
  const ours = await openTable(load, { sql: server.url, uri: 'postgres:///public/piece', connections: AT_A_TIME });
  return {
    turns: {
      list: { ours: ours.list, native: async () => (await ask('list', list, AFTER)).rows.length },
      read: { ours: ours.read, native: async (index) => jsonBytes((await ask('read', read, keyOf(index))).rows[0]) },
    },
    async close() {
      await ours.close();
      await pool.end();
      await server.stop();
    },
  };
}
