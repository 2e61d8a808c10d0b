/** A SQLite file beside `@photostructure/sqlite` in this process, with statements that are prepared once. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { temporaryFolder } from '../lib/folders.mjs';
import { AFTER, CREATE, jsonBytes, keyOf, LIST, openTable, READ, rows } from '../lib/table.mjs';
import { ENTRIES } from '../lib/turns.mjs';

export const client = '@photostructure/sqlite';

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const file = join(temporaryFolder(), 'bench.sqlite');
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; ${CREATE}; BEGIN`);
  const insert = database.prepare('INSERT INTO piece VALUES (?, ?, ?)');
  for (const row of rows()) insert.run(...row);
  database.exec('COMMIT');
  const list = database.prepare(`${LIST} WHERE id > ? ORDER BY id LIMIT ${ENTRIES}`);
  const read = database.prepare(`${READ} WHERE id = ?`);
  const ours = await openTable(load, { sql: file, uri: 'sqlite:///piece' });
  return {
    turns: {
      list: { ours: ours.list, native: () => list.all(AFTER).length },
      read: { ours: ours.read, native: (index) => jsonBytes(read.get(keyOf(index))) },
    },
    async close() {
      await ours.close();
      database.close();
    },
  };
}
