/**
 * A record store: eleven tables with keys of one and two columns, keys that are text, a foreign key to its own table, NULLs,
 * dates, decimals and bytes. The data is made up here, and is the same for every database.
 */

export interface StoreTable {
  readonly name: string;
  /** Name and type: `integer`, `text`, `decimal`, `date`, `bytes`. */
  readonly columns: readonly (readonly [name: string, type: StoreType])[];
  readonly key: readonly string[];
  readonly foreignKeys: readonly (readonly [columns: string, table: string, references: string])[];
  readonly rows: readonly (readonly StoreValue[])[];
}

export type StoreType = 'integer' | 'text' | 'decimal' | 'date' | 'bytes';
export type StoreValue = string | number | Uint8Array | null;

const WORDS = ['amber', 'birch', 'cinder', 'delta', 'ember', 'fjord', 'grove', 'harbour', 'iris', 'juniper', 'kestrel'];

const word = (number: number): string => WORDS[number % WORDS.length] ?? '';

const words = (number: number): string => `${word(number)} ${word(number * 7 + 3)} ${number}`;

const range = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at + 1));

const date = (number: number): string =>
  new Date(Date.UTC(2020, 0, 1) + number * 86_400_000).toISOString().slice(0, 10);

/** The tables. Each comes before those that refer to it. @param size multiplies the rows of most tables */
export function recordStore(size = 1): readonly StoreTable[] {
  const artists = 20 * size;
  const albums = 40 * size;
  const tracks = 300 * size;
  const customers = 25 * size;
  const invoices = 80 * size;
  return [
    {
      name: 'Genre',
      columns: [
        ['Code', 'text'],
        ['Name', 'text'],
      ],
      key: ['Code'],
      foreignKeys: [],
      rows: ['rock', 'jazz', 'r&b/soul', 'drum, bass', '100%', 'café', '~wave', '日本', "it's", '"q"', 'a b'].map(
        (code, at) => [code, words(at)],
      ),
    },
    {
      name: 'Artist',
      columns: [
        ['ArtistId', 'integer'],
        ['Name', 'text'],
      ],
      key: ['ArtistId'],
      foreignKeys: [],
      rows: range(artists, (id) => [id, id % 9 === 0 ? null : words(id)]),
    },
    {
      name: 'Album',
      columns: [
        ['AlbumId', 'integer'],
        ['Title', 'text'],
        ['ArtistId', 'integer'],
        ['Cover', 'bytes'],
      ],
      key: ['AlbumId'],
      foreignKeys: [['ArtistId', 'Artist', 'ArtistId']],
      rows: range(albums, (id) => [
        id,
        words(id),
        (id % artists) + 1,
        id % 5 === 0 ? null : Uint8Array.from({ length: id * 37 }, (_, at) => (at * id) & 0xff),
      ]),
    },
    {
      name: 'Track',
      columns: [
        ['TrackId', 'integer'],
        ['Name', 'text'],
        ['AlbumId', 'integer'],
        ['Genre', 'text'],
        ['Milliseconds', 'integer'],
        ['UnitPrice', 'decimal'],
      ],
      key: ['TrackId'],
      foreignKeys: [
        ['AlbumId', 'Album', 'AlbumId'],
        ['Genre', 'Genre', 'Code'],
      ],
      rows: range(tracks, (id) => [
        id * 3,
        `${words(id)}${id % 4 === 0 ? ' | "live", at *the* <b>hall</b>\nsecond line' : ''}`,
        (id % albums) + 1,
        ['rock', 'jazz', 'r&b/soul', null, '日本'][id % 5] ?? null,
        1_000 * id + 7,
        '0.99',
      ]),
    },
    {
      name: 'Employee',
      columns: [
        ['EmployeeId', 'integer'],
        ['LastName', 'text'],
        ['ReportsTo', 'integer'],
        ['Hired', 'date'],
      ],
      key: ['EmployeeId'],
      foreignKeys: [['ReportsTo', 'Employee', 'EmployeeId']],
      rows: range(8, (id) => [id, word(id), id === 1 ? null : Math.ceil(id / 2), date(id * 31)]),
    },
    {
      name: 'Customer',
      columns: [
        ['CustomerId', 'integer'],
        ['Name', 'text'],
        ['Country', 'text'],
        ['SupportRepId', 'integer'],
      ],
      key: ['CustomerId'],
      foreignKeys: [['SupportRepId', 'Employee', 'EmployeeId']],
      rows: range(customers, (id) => [id, words(id), ['fr', 'de', 'br', 'jp'][id % 4] ?? null, (id % 8) + 1]),
    },
    {
      name: 'Invoice',
      columns: [
        ['InvoiceId', 'integer'],
        ['CustomerId', 'integer'],
        ['InvoiceDate', 'date'],
        ['Total', 'decimal'],
      ],
      key: ['InvoiceId'],
      foreignKeys: [['CustomerId', 'Customer', 'CustomerId']],
      rows: range(invoices, (id) => [id, (id % customers) + 1, date(id), `${id}.50`]),
    },
    {
      name: 'InvoiceLine',
      columns: [
        ['InvoiceId', 'integer'],
        ['Line', 'integer'],
        ['TrackId', 'integer'],
        ['Quantity', 'integer'],
      ],
      key: ['InvoiceId', 'Line'],
      foreignKeys: [
        ['InvoiceId', 'Invoice', 'InvoiceId'],
        ['TrackId', 'Track', 'TrackId'],
      ],
      rows: range(invoices * 3, (number) => [
        Math.ceil(number / 3),
        ((number - 1) % 3) + 1,
        ((number * 5) % tracks) * 3 + 3,
        (number % 4) + 1,
      ]),
    },
    {
      name: 'Playlist',
      columns: [
        ['PlaylistId', 'integer'],
        ['Name', 'text'],
      ],
      key: ['PlaylistId'],
      foreignKeys: [],
      rows: range(6, (id) => [id, words(id)]),
    },
    {
      name: 'PlaylistTrack',
      columns: [
        ['PlaylistId', 'integer'],
        ['TrackId', 'integer'],
      ],
      key: ['PlaylistId', 'TrackId'],
      foreignKeys: [
        ['PlaylistId', 'Playlist', 'PlaylistId'],
        ['TrackId', 'Track', 'TrackId'],
      ],
      rows: range(tracks, (id) => [(id % 6) + 1, id * 3]),
    },
    {
      name: 'Region',
      columns: [
        ['Country', 'text'],
        ['Name', 'text'],
        ['Note', 'text'],
      ],
      key: ['Country', 'Name'],
      foreignKeys: [],
      rows: ['fr', 'de', 'a,b', 'x/y', '~'].flatMap((country) =>
        ['north', 'south, east', '.', '100%'].map((name, at) => [country, name, at === 2 ? null : words(at)]),
      ),
    },
  ];
}
