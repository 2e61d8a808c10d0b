/** Hidden and denied rows and tables are in no page, count, description or completion of a database (SEC-RES-2). */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessRule } from '../../src/layers/access/index.ts';
import { sqlProvider } from '../../src/providers/sql/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Ask, askerOf } from './access/asking.ts';

let folder: Folder;
let file: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  file = join(folder.path, 'shop.sqlite');
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE people (email TEXT PRIMARY KEY, name TEXT);
    INSERT INTO people VALUES ('anna@x.example', 'Anna'), ('SECRET@x.example', 'Hidden SECRET'), ('zoe@x.example', 'Zoe');
    CREATE TABLE orders (buyer TEXT, number INTEGER, what TEXT, PRIMARY KEY (buyer, number));
    INSERT INTO orders VALUES ('anna', 1, 'tea'), ('SECRET', 1, 'SECRET thing'), ('SECRET', 2, 'SECRET more'), ('zoe', 7, 'cup');
    CREATE TABLE vault_SECRET (id INTEGER PRIMARY KEY, of TEXT REFERENCES people (email), text TEXT);
    INSERT INTO vault_SECRET VALUES (1, 'anna@x.example', 'SECRET text');
    CREATE TABLE letters (id INTEGER PRIMARY KEY, vault INTEGER REFERENCES vault_SECRET (id), text TEXT);
    INSERT INTO letters VALUES (1, 1, 'a letter');
  `);
  database.close();
});
afterAll(() => folder[Symbol.asyncDispose]());

const KEPT_BACK: readonly string[] = [
  'shop+sqlite:///people/SECRET@x.example/**',
  'shop+sqlite:///orders/SECRET,*/**',
  'shop+sqlite:///orders/SECRET,*',
  'shop+sqlite:///vault_SECRET/**',
];

const LISTS: readonly (readonly [string, readonly AccessRule[]])[] = [
  ['hide', [{ effect: 'allow' }, { effect: 'hide', uris: KEPT_BACK }]],
  ['deny', [{ effect: 'allow' }, { effect: 'deny', uris: KEPT_BACK }]],
  ['an allow-list', [{ effect: 'allow', uris: ['**'], except: KEPT_BACK }]],
];

describe.each(ERAS)('to a client of the %s era', (era) => {
  describe.each(LISTS)('under %s', (_name, rules) => {
    let ask: Ask;
    const closing: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      const provider = await sqlProvider({ sql: file });
      const vitrine = createVitrine({ mounts: [{ name: 'shop', provider }], access: { rules } });
      const http = await serveHttp(vitrine, { port: 0 });
      closing.push(
        () => http.close(),
        () => vitrine.close(),
      );
      ask = await askerOf(http.url, era, undefined);
    });
    afterAll(async () => {
      for (const close of closing) await close();
    });

    it.each([
      'people/~rows',
      'people/~after/A',
      'people/~after/anna@x.example',
      'people/~schema',
      'people',
      'orders/~rows',
      'orders/~after/A,1',
      'orders/~after/anna,1',
      'orders',
      'letters/~schema',
      'letters/1',
      'letters',
      '~schema',
      '',
    ])('%s reveals no row or table that is kept back, in reads and lists', async (path) => {
      const uri = `shop+sqlite:///${path}`;
      for (const accept of [undefined, 'application/json', 'text/csv', 'text/markdown']) {
        const _meta = accept === undefined ? {} : { 'vitrine/accept': [accept] };
        const { text, result } = await ask('resources/read', { uri, _meta });
        expect.soft(result, text).toBeDefined();
        expect.soft(text, accept).not.toContain('SECRET');
      }
      expect.soft((await ask('resources/list', { uri })).text).not.toContain('SECRET');
      expect.soft((await ask('tools/call', { name: 'list', arguments: { uri } })).text).not.toContain('SECRET');
    });

    it('pages say that rows are left out, and have all other rows', async () => {
      const { text } = await ask('resources/read', { uri: 'shop+sqlite:///people/~rows' });
      for (const there of ['Anna', 'Zoe', 'Rows that the reader may not have are left out'])
        expect(text).toContain(there);
    });

    it.each([
      ['people', 2],
      ['orders', 2],
    ])('the count of %s counts only readable rows', async (table, rows) => {
      const { text } = await ask('resources/read', { uri: `shop+sqlite:///${table}/~count` });
      expect(text).toMatch(new RegExp(String.raw`\\"rows\\": ${rows}\b`));
    });

    it.each([
      ['people/{email}', 'email', {}, ['anna@x.example', 'zoe@x.example']],
      ['orders/{buyer,number}', 'buyer', {}, ['anna', 'zoe']],
      ['orders/{buyer,number}', 'number', { buyer: 'anna' }, ['1']],
      ['orders/{buyer,number}', 'number', { buyer: 'SECRET' }, []],
    ])('completion of %s for %s offers and counts only listable rows', async (template, name, known, values) => {
      const { result } = await ask('completion/complete', {
        ref: { type: 'ref/resource', uri: `shop+sqlite:///${template}` },
        argument: { name, value: '' },
        context: { arguments: known },
      });
      const completion = result?.completion as { readonly values: unknown; readonly total?: number } | undefined;
      expect(completion?.values).toEqual(values);
      expect([undefined, values.length]).toContain(completion?.total);
    });

    it('a search finds no row that is kept back', async () => {
      const { text } = await ask('tools/call', { name: 'search', arguments: { pattern: 'SECRET' } });
      expect(text).not.toMatch(/SECRET (text|thing|more)|Hidden/);
    });
  });
});
