import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf, textOf } from '../../../../test/providers/sql/reading.ts';
import { createContext } from '../../../core/context.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { sqlProvider } from '../index.ts';

const ctx = createContext();

/** Tables with a column `a` in their key: the definition of the table, and whether the column may be NULL. */
const TABLES: Readonly<Record<string, readonly [string, boolean]>> = {
  composite: ['(a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b))', true],
  'composite, the other way': ['(a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (b, a))', true],
  'composite, not null': ['(a INTEGER NOT NULL, b INTEGER, c TEXT, PRIMARY KEY (a, b))', false],
  'composite without rowid': ['(a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID', false],
  'composite and strict': ['(a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b)) STRICT', false],
  'composite, strict, without rowid': [
    '(a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID',
    false,
  ],
  'row id': ['(a INTEGER PRIMARY KEY, b INTEGER, c TEXT)', false],
  'row id by a constraint': ['(a integer, b INTEGER, c TEXT, PRIMARY KEY (a DESC))', false],
  'row id that is unique': ['(a INTEGER PRIMARY KEY UNIQUE, b INTEGER, c TEXT)', false],
  'strict row id': ['(a INTEGER PRIMARY KEY, b INTEGER, c TEXT) STRICT', false],
  'one integer without rowid': ['(a INTEGER PRIMARY KEY, b INTEGER, c TEXT) WITHOUT ROWID', false],
  'descending, which is not the row id': ['(a INTEGER PRIMARY KEY DESC, b INTEGER, c TEXT)', true],
  'another integer': ['(a INT PRIMARY KEY, b INTEGER, c TEXT)', true],
  'another strict integer': ['(a INT PRIMARY KEY, b INTEGER, c TEXT) STRICT', false],
};

let folder: string;
let provider: ResourceProvider;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-catalogue-'));
  const database = new DatabaseSync(join(folder, 'a.sqlite'));
  for (const [index, [definition, mayBeNull]] of Object.values(TABLES).entries()) {
    database.exec(`CREATE TABLE t${index} ${definition}`);
    const insert = database.prepare(`INSERT INTO t${index} VALUES (?, ?, 'here')`);
    for (let n = 1; n <= 5; n++) insert.run(n, n);
    for (let n = 1; mayBeNull && n <= 5; n++) insert.run(null, n);
  }
  database.close();
  provider = await sqlProvider({ sql: 'a.sqlite', base: folder });
});
afterAll(async () => {
  await provider?.close?.();
  await rm(folder, { recursive: true, force: true });
});

describe.each(Object.keys(TABLES).map((name, index) => [name, index] as const))('a table by key: %s', (name, index) => {
  const mayBeNull = TABLES[name]?.[1] === true;
  const uri = `sqlite:///t${index}`;

  it('lists each row once, in pages, and reads it', async () => {
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await provider.list(uri, { limit: 4, cursor }, ctx);
      uris.push(...page.resources.map((resource) => resource.uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const rows = uris.filter((each) => !/\/~(schema|rows|count)$/.test(each));
    expect([rows.length, new Set(rows).size]).toEqual(mayBeNull ? [10, 10] : [5, 5]);
    for (const row of rows) expect(await textOf(provider, row)).toContain('here');
  });

  it('says whether the column may be NULL', async () => {
    const schema = await jsonOf<object>(provider, `${uri}/~schema`);
    const column = expect.objectContaining({ name: 'a', nullable: mayBeNull });
    expect(schema).toMatchObject({ columns: expect.arrayContaining([column]) });
  });
});
