/**
 * A database in the shape of the well-known Chinook sample: the shop of a record label, its 11 tables with their columns,
 * types, keys and numbers of rows (15,607), as data and as statements that make it in any of the databases. The values in the
 * rows are made up here, and are the same each time.
 */
export type SampleValue = string | number | null;

export interface SampleTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly { readonly column: string; readonly table: string; readonly references: string }[];
  /** Values in the order of the columns; of `NUMERIC` ones as numbers, of `TIMESTAMP` ones in ISO 8601. */
  readonly rows: readonly (readonly SampleValue[])[];
}

export type SampleDatabase = 'sqlite' | 'postgres' | 'mysql';

/** Columns with their types, then foreign keys as `column>Table`; a column with `*` is of the primary key. */
const SCHEMA: Readonly<Record<string, readonly [columns: string, foreignKeys?: string]>> = {
  Genre: ['GenreId* INT, Name VARCHAR(120)'],
  MediaType: ['MediaTypeId* INT, Name VARCHAR(120)'],
  Artist: ['ArtistId* INT, Name VARCHAR(120)'],
  Album: ['AlbumId* INT, Title VARCHAR(160), ArtistId INT', 'ArtistId>Artist'],
  Track: [
    'TrackId* INT, Name VARCHAR(200), AlbumId INT, MediaTypeId INT, GenreId INT, Composer VARCHAR(220), ' +
      'Milliseconds INT, Bytes INT, UnitPrice NUMERIC(10,2)',
    'AlbumId>Album, MediaTypeId>MediaType, GenreId>Genre',
  ],
  Employee: [
    'EmployeeId* INT, LastName VARCHAR(20), FirstName VARCHAR(20), Title VARCHAR(30), ReportsTo INT, ' +
      'BirthDate TIMESTAMP, HireDate TIMESTAMP, Address VARCHAR(70), City VARCHAR(40), State VARCHAR(40), ' +
      'Country VARCHAR(40), PostalCode VARCHAR(10), Phone VARCHAR(24), Fax VARCHAR(24), Email VARCHAR(60)',
    'ReportsTo>Employee',
  ],
  Customer: [
    'CustomerId* INT, FirstName VARCHAR(40), LastName VARCHAR(20), Company VARCHAR(80), Address VARCHAR(70), ' +
      'City VARCHAR(40), State VARCHAR(40), Country VARCHAR(40), PostalCode VARCHAR(10), Phone VARCHAR(24), ' +
      'Fax VARCHAR(24), Email VARCHAR(60), SupportRepId INT',
    'SupportRepId>Employee',
  ],
  Invoice: [
    'InvoiceId* INT, CustomerId INT, InvoiceDate TIMESTAMP, BillingAddress VARCHAR(70), BillingCity VARCHAR(40), ' +
      'BillingState VARCHAR(40), BillingCountry VARCHAR(40), BillingPostalCode VARCHAR(10), Total NUMERIC(10,2)',
    'CustomerId>Customer',
  ],
  InvoiceLine: [
    'InvoiceLineId* INT, InvoiceId INT, TrackId INT, UnitPrice NUMERIC(10,2), Quantity INT',
    'InvoiceId>Invoice, TrackId>Track',
  ],
  Playlist: ['PlaylistId* INT, Name VARCHAR(120)'],
  PlaylistTrack: ['PlaylistId* INT, TrackId* INT', 'PlaylistId>Playlist, TrackId>Track'],
};

/** How many rows each table has. */
const ROWS: Readonly<Record<string, number>> = {
  Genre: 25,
  MediaType: 5,
  Artist: 275,
  Album: 347,
  Track: 3_503,
  Employee: 8,
  Customer: 59,
  Invoice: 412,
  InvoiceLine: 2_240,
  Playlist: 18,
  PlaylistTrack: 8_715,
};

/** Words with characters that texts may contain: other scripts, quotes, backslashes, percent signs, line ends. */
const WORDS = [
  ...[
    'brass',
    'Überlauf',
    'naïve',
    "O'Hara",
    '"quoted"',
    'back\\slash',
    '100%',
    'a_b',
    '時計',
    'Ω',
    'tab\there',
    'two\nlines',
  ],
  ...['slow', 'escapement', 'spring', 'São', 'Łódź', 'No. 7', 'D.C.', '{braces}', '<b>', '&c.', '🎺', 'NULL'],
] as const;

const FIRST_DAY = Date.UTC(2021, 0, 1);
const DAY_MS = 86_400_000;

/** The value of a column in a row. Rows count from 1. A text has at most as many characters as its type allows. */
function madeUp(table: string, column: string, type: string, row: number, target: string | undefined): SampleValue {
  // These numbers look random, but are the same each time. Every column of a table has its own.
  const seed = [...`${table}.${column}`].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 65_521, 7);
  const chance = (seed + row * 7_919) % 10_007;
  if (column === `${table}Id`) return row;
  // A row refers only to an earlier row of its own table, because rows are inserted one after the other.
  if (target === table) return row === 1 ? null : 1 + (chance % (row - 1));
  if (target !== undefined) return 1 + (chance % (ROWS[target] ?? 1));
  if (type === 'INT') return chance;
  if (type.startsWith('NUMERIC')) return (chance % 2_000) / 100;
  if (type === 'TIMESTAMP') return new Date(FIRST_DAY + (chance % 1_825) * DAY_MS).toISOString().slice(0, 19);
  if (chance % 13 === 0 && column !== 'Name' && column !== 'Title') return null;
  const words = [seed, chance, chance * 3].map((at) => WORDS[at % WORDS.length] ?? '');
  return [...`${column} ${row} ${words.join(' ')}`]
    .slice(0, Number(/\d+/.exec(type)?.[0]))
    .join('')
    .toWellFormed();
}

/** Pairs of a playlist and a track, none twice. */
const pairOf = (row: number): readonly SampleValue[] => [1 + ((row - 1) % 18), 1 + Math.floor((row - 1) / 18) * 7];

/** Every table with its rows. Each comes before those that refer to it. */
export function readSample(): readonly SampleTable[] {
  return Object.entries(SCHEMA).map(([name, [columns, foreignKeys = '']]) => {
    const described = columns.split(/, (?=[A-Z])/).map((column) => column.split(' '));
    const keyed = foreignKeys.split(', ').filter((each) => each !== '');
    const all = described.map(([column = '', type = '']) => ({ name: column.replace('*', ''), type }));
    const targets = new Map(keyed.map((each) => [each.split('>')[0], each.split('>')[1]]));
    const rowOf = (row: number): readonly SampleValue[] =>
      name === 'PlaylistTrack'
        ? pairOf(row)
        : all.map((column) => madeUp(name, column.name, column.type, row, targets.get(column.name)));
    return {
      name,
      columns: all,
      primaryKey: described.flatMap(([column = '']) => (column.endsWith('*') ? [column.slice(0, -1)] : [])),
      foreignKeys: keyed.map((each) => {
        const [column = '', table = ''] = each.split('>');
        return { column, table, references: `${table}Id` };
      }),
      rows: Array.from({ length: ROWS[name] ?? 0 }, (_, index) => rowOf(index + 1)),
    };
  });
}

/** Rows of one INSERT. */
const TOGETHER = 500;

/** Statements that make the tables and fill them, for an empty database. */
export function* sampleStatements(database: SampleDatabase, tables = readSample()): Iterable<string> {
  const quote = (name: string): string => (database === 'mysql' ? `\`${name}\`` : `"${name}"`);
  // TIMESTAMP is another type in MySQL: it has a time zone.
  const typeOf = (type: string): string => (database === 'mysql' && type === 'TIMESTAMP' ? 'DATETIME' : type);
  for (const { name, columns, primaryKey, foreignKeys, rows } of tables) {
    const parts = [
      ...columns.map(
        (column) =>
          `${quote(column.name)} ${typeOf(column.type)}${primaryKey.includes(column.name) ? ' NOT NULL' : ''}`,
      ),
      `PRIMARY KEY (${primaryKey.map(quote).join(', ')})`,
      ...foreignKeys.map(
        ({ column, table, references }) =>
          `FOREIGN KEY (${quote(column)}) REFERENCES ${quote(table)} (${quote(references)})`,
      ),
    ];
    yield `CREATE TABLE ${quote(name)} (${parts.join(', ')})`;
    for (let at = 0; at < rows.length; at += TOGETHER) {
      const values = rows
        .slice(at, at + TOGETHER)
        .map((row) => `(${row.map((value) => literal(value, database)).join(', ')})`);
      yield `INSERT INTO ${quote(name)} VALUES ${values.join(', ')}`;
    }
  }
}

function literal(value: SampleValue, database: SampleDatabase): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  const text = database === 'mysql' ? value.replaceAll('\\', '\\\\') : value;
  return `'${text.replaceAll("'", "''")}'`;
}
