/** PostgreSQL and MariaDB never execute a text of a caller or a name in a database as SQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { ResourceError } from '../../src/core/errors.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { encodeSegment, treeUri } from '../../src/core/uri.ts';
import { sqlProvider } from '../../src/providers/sql/index.ts';
import { encodeName } from '../../src/providers/sql/keys.ts';
import { EVERYTHING, listAll, thrownBy } from '../../src/testing/observe.ts';
import { jsonOf, pagesOf, type ShownRow } from '../providers/sql/reading.ts';
import { makeDatabase, SERVERS, type Writer } from '../providers/sql/servers.ts';
import type { DatabaseServer } from '../services/database.ts';
import { describeWith } from '../services/service.ts';
import { ATTACKS } from './sql.ts';

const ctx = createContext();
const SECRET = 'the secret value';
/** The texts that can be keys: in every setting, MariaDB has an index for keys of up to 191 characters. */
const KEYS = ATTACKS.filter((text) => text.length <= 191);

for (const kind of SERVERS) {
  const { scheme, quote, placeholder } = kind;

  describeWith([kind.service])(`SQL injection into ${kind.service.name}`, () => {
    let server: DatabaseServer;
    let writer: Writer;
    let provider: ResourceProvider;
    const schema = kind.schemaOf('shop');
    // Names of MariaDB have no characters beyond the basic plane.
    const names = scheme === 'mysql' ? KEYS.filter((text) => !/[^\0-\uffff]/u.test(text)) : KEYS;
    const victim = treeUri(scheme, [schema, 'victim']);
    const count = async (): Promise<number> => (await jsonOf<{ rows: number }>(provider, `${victim}/~count`)).rows;

    beforeAll(async () => {
      server = await kind.start();
      writer = await makeDatabase(kind, server, 'shop');
      const text = scheme === 'mysql' ? 'VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin' : 'TEXT';
      await writer.run(`CREATE TABLE victim (${quote('key')} ${text} PRIMARY KEY, value ${text})`);
      await writer.run(`CREATE TABLE hidden (secret ${text})`);
      await writer.rows(`INSERT INTO hidden VALUES (${placeholder(1)})`, [SECRET]);
      for (const key of KEYS) {
        await writer.rows(`INSERT INTO victim VALUES (${placeholder(1)}, ${placeholder(2)})`, [key, `of ${key}`]);
      }
      for (const [at, attack] of names.entries()) {
        const [key, value] = [quote(attack), quote(`${attack}'`)];
        await writer.run(`CREATE TABLE ${quote(`${attack} ${at}`)} (${key} INT PRIMARY KEY, ${value} INT)`);
        await writer.run(`INSERT INTO ${quote(`${attack} ${at}`)} VALUES (7, 8)`);
      }
      const where = `SELECT value FROM victim WHERE ${quote('key')} = ${placeholder(1)}`;
      provider = await sqlProvider({
        sql: server.url('shop'),
        tables: { exclude: ['hidden', '*.hidden'] },
        watch: false,
        queries: { find: { sql: where, parameters: { key: {} } } },
      });
    });
    afterAll(async () => {
      await provider?.close?.();
      await writer?.[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    });

    it('has no effect in keys: each is one row [SEC-RES-5]', async () => {
      expect(await pagesOf(provider, victim)).toHaveLength(KEYS.length);
      for (const key of KEYS) {
        const { row } = await jsonOf(provider, `${victim}/${encodeSegment(encodeName(key))}`);
        expect(row).toEqual({ key, value: `of ${key}` });
      }
    });

    it('has no effect in typed URIs: they name a row, or none', async () => {
      for (const attack of KEYS) {
        const typed = encodeSegment(attack);
        for (const path of [`victim/${typed}`, typed, `victim/~after/${typed}`, `hidden/${typed}`]) {
          const uri = `${treeUri(scheme, [schema])}/${path}`;
          const error = await thrownBy(async () => {
            const bodies = await provider.read(uri, EVERYTHING, ctx);
            expect(JSON.stringify(bodies.map(({ content }) => content))).not.toContain(SECRET);
          });
          if (error === undefined) continue;
          expect(error, uri).toBeInstanceOf(ResourceError);
          expect(['not-found', 'invalid'], uri).toContain((error as ResourceError).code);
          expect((error as ResourceError).message).not.toMatch(/select|syntax|operator|relation/i);
        }
      }
      expect(await count()).toBe(KEYS.length);
    });

    it('has no effect in names of tables and columns: each is listed and read', async () => {
      const listed = new Set((await listAll(provider, treeUri(scheme, [schema]))).map(({ name }) => name));
      for (const [at, attack] of names.entries()) {
        expect(listed.has(`${attack} ${at}`), attack).toBe(true);
        const uri = treeUri(scheme, [schema, encodeName(`${attack} ${at}`)]);
        expect((await jsonOf<ShownRow>(provider, `${uri}/7`)).row).toEqual({ [attack]: 7, [`${attack}'`]: 8 });
      }
    });

    it('has no effect in cursors and parameters of saved queries', async () => {
      for (const attack of KEYS) {
        const error = await thrownBy(() => provider.list(victim, { cursor: attack, limit: 3 }, ctx));
        if (error !== undefined) expect(error, attack).toMatchObject({ code: 'invalid' });
        const escaped = encodeURIComponent(attack).replace(
          /[!'()*]/g,
          (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
        );
        const { rows } = await jsonOf<{ rows: readonly ShownRow[] }>(
          provider,
          `${scheme}:///~queries/find?key=${escaped}`,
        );
        expect(rows).toEqual([{ row: { value: `of ${attack}` } }]);
      }
      expect(await count()).toBe(KEYS.length);
    });
  });
}
