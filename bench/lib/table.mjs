/** The table that benchmarks of databases read: rows of about 1 KiB, with a key and a name. */
import { asking, BYTES, RESOURCES } from './turns.mjs';

/** The number of rows, more than a page shows, and the first key. */
const ROWS = 1_000;
const FIRST = 1_001;

export const LIST = 'SELECT id, name FROM piece';
export const READ = 'SELECT id, name, note FROM piece';

/** This statement makes it, in every database. */
export const CREATE = 'CREATE TABLE piece (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, note TEXT NOT NULL)';

/** Its rows: `[id, name, note]`. */
export const rows = () =>
  Array.from({ length: ROWS }, (_, at) => [FIRST + at, `piece ${FIRST + at}`, 'x'.repeat(BYTES)]);

/** @param {number} index of a read */
export const keyOf = (index) => FIRST + (index % RESOURCES);

/** The measured page begins after this key, the last one of the first page. */
export const AFTER = FIRST + 96;

/** @param {unknown} row sent as JSON, as the provider does */
export const jsonBytes = (row) => (row === undefined ? 0 : Buffer.byteLength(JSON.stringify(row)));

/**
 * The provider's side of a database that has the table.
 * @param {import('./turns.mjs').Load} load
 * @param {{sql: string, uri: string, connections?: number}} database `uri` is that of the table
 */
export async function openTable(load, { uri, ...options }) {
  const { page, second, bytes } = await asking(load);
  const { sqlProvider } = await load('providers/sql.js');
  const provider = await sqlProvider({ ...options, watch: false });
  // The first page also has Vitrine's entries about the table, so the second one is measured.
  const cursor = await second(provider, uri);
  return {
    list: () => page(provider, uri, cursor),
    read: (/** @type {number} */ index) => bytes(provider, `${uri}/${keyOf(index)}`, ['application/json']),
    close: () => provider.close(),
  };
}
