/** The record store as a SQLite file. */
import { DatabaseSync } from '@photostructure/sqlite';
import { recordStore, type StoreType } from './store.ts';

const TYPES: Readonly<Record<StoreType, string>> = {
  integer: 'INTEGER',
  text: 'TEXT',
  decimal: 'TEXT',
  date: 'TEXT',
  bytes: 'BLOB',
};

export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Makes the file, and gives the connection that may write to it. */
export function makeStore(file: string, size = 1): InstanceType<typeof DatabaseSync> {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; BEGIN');
  for (const { name, columns, key, foreignKeys, rows } of recordStore(size)) {
    const parts = [
      ...columns.map(([column, type]) => `${quote(column)} ${TYPES[type]}`),
      `PRIMARY KEY (${key.map(quote).join(', ')})`,
      ...foreignKeys.map(
        ([column, table, other]) => `FOREIGN KEY (${quote(column)}) REFERENCES ${quote(table)} (${quote(other)})`,
      ),
    ];
    database.exec(`CREATE TABLE ${quote(name)} (${parts.join(', ')})`);
    const insert = database.prepare(`INSERT INTO ${quote(name)} VALUES (${columns.map(() => '?').join(', ')})`);
    for (const row of rows) insert.run(...row);
  }
  database.exec(
    `CREATE VIEW AlbumOfArtist AS SELECT AlbumId, Title, Artist.Name AS Artist
       FROM Album JOIN Artist ON Album.ArtistId = Artist.ArtistId;
     CREATE INDEX TrackByName ON Track (Name); COMMIT`,
  );
  return database;
}
