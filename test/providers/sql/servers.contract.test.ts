/** Database servers as providers: folders of the seed are tables, and their files rows. */
import { afterAll, beforeAll } from 'vitest';
import { treeUri } from '../../../src/core/uri.ts';
import { sqlProvider } from '../../../src/providers/sql/index.ts';
import { encodeName } from '../../../src/providers/sql/keys.ts';
import type { Leaves, ProviderFixture } from '../../../src/testing/fixture.ts';
import { readLeaf } from '../../../src/testing/observe.ts';
import { providerContract } from '../../../src/testing/provider-contract.ts';
import type { DatabaseServer } from '../../services/database.ts';
import { describeWith } from '../../services/service.ts';
import { makeDatabase, SERVERS, type ServerKind, type Writer } from './servers.ts';

/** The entries of every table beside its rows. */
const OWN: ReadonlySet<string> = new Set(['~schema', '~rows', '~count']);
const CHANNEL = 'changed';

for (const kind of SERVERS) {
  describeWith([kind.service])(kind.service.name, () => {
    let server: DatabaseServer;
    let writer: Writer;
    let laws = 0;

    beforeAll(async () => {
      server = await kind.start();
      writer = await makeDatabase(kind, server, 'contract');
      if (kind.scheme === 'mysql') await writer.run('CREATE TABLE changes (n int); INSERT INTO changes VALUES (0)');
    });
    afterAll(async () => {
      await writer[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    providerContract(`sql, ${kind.service.name}`, async (seed) => {
      laws += 1;
      return await fixture(kind, server, writer, `law ${laws}`, seed);
    });
  });
}

async function fixture(
  kind: ServerKind,
  server: DatabaseServer,
  writer: Writer,
  schema: string,
  seed: Leaves,
): Promise<ProviderFixture> {
  const { quote, placeholder } = kind;
  const isPostgres = kind.scheme === 'postgres';
  const tableOf = (name: string): string => `${quote(schema)}.${quote(name)}`;
  const rows = [...seed].filter(([path]) => path.split('/').length === 2);
  const tables = [...new Set(rows.map(([path]) => path.split('/')[0] ?? ''))];
  await writer.run(`CREATE SCHEMA ${quote(schema)}`);
  const textType = isPostgres ? 'TEXT' : 'VARCHAR(191) COLLATE utf8mb4_bin';
  for (const table of tables) {
    await writer.run(
      `CREATE TABLE ${tableOf(table)} (name ${textType} PRIMARY KEY, body ${isPostgres ? 'TEXT' : 'LONGTEXT'})`,
    );
  }
  // A path begins with the schema.
  const place = (path: string): [table: string, name: string] => {
    const [, table = '', name = ''] = path.split('/');
    return [table, name];
  };
  const write = async (sql: string, values: readonly unknown[] = []): Promise<void> => {
    await writer.rows(sql, values);
    await writer.run(isPostgres ? `NOTIFY ${CHANNEL}` : 'UPDATE contract.changes SET n = n + 1');
  };
  const insert = (table: string, name: string, text: string): Promise<void> =>
    write(`INSERT INTO ${tableOf(table)} (name, body) VALUES (${placeholder(1)}, ${placeholder(2)})`, [name, text]);
  let changes = 0;

  const leaves = new Map<string, Uint8Array>();
  for (const table of tables) {
    const values = rows.flatMap(([path, bytes]) => {
      const [of = '', name = ''] = path.split('/');
      if (of !== table) return [];
      const text = bytes.byteLength > 1_000 ? Buffer.from(bytes).toString('hex') : Buffer.from(bytes).toString();
      leaves.set(`${schema}/${path}`, Buffer.from(rowJson(schema, table, name, text)));
      return [name, text];
    });
    const places = Array.from(
      { length: values.length / 2 },
      (_, i) => `(${placeholder(2 * i + 1)}, ${placeholder(2 * i + 2)})`,
    );
    await writer.rows(`INSERT INTO ${tableOf(table)} (name, body) VALUES ${places.join(', ')}`, values);
  }
  const provider = await sqlProvider({
    sql: server.url(isPostgres ? 'contract' : ''),
    name: 'contract',
    schemas: [schema],
    connections: 2,
    maxBytes: 16_000_000,
    maxValueBytes: 1_000_000,
    watch: isPostgres ? { channel: CHANNEL } : { query: 'SELECT n FROM contract.changes', pollSeconds: 0.1 },
  });
  const uriOf = (path: string): string =>
    treeUri(
      kind.scheme,
      (path === '' ? [] : path.split('/')).map((name) => (OWN.has(name) ? name : encodeName(name))),
    );
  const own = tables.flatMap((table) => [...OWN].map((name) => `${schema}/${table}/${name}`));
  for (const path of ['~schema', `${schema}/~schema`, ...own]) {
    leaves.set(path, (await readLeaf(provider, uriOf(path))).bytes);
  }
  return {
    provider,
    leaves,
    uriOf,
    hierarchical: true,
    mutate: {
      create: (path, text) => insert(...place(path), text),
      async replace(path, text) {
        const [table, name] = place(path);
        changes += 1;
        if (path === '~schema' || table === '~schema') {
          await write(`CREATE TABLE ${tableOf(`extra_${changes}`)} (a int)`);
        } else if (name === '~schema') await write(`ALTER TABLE ${tableOf(table)} ADD COLUMN extra_${changes} int`);
        else if (name === '~count') await insert(table, 'another', text);
        else if (name === '~rows') await write(`UPDATE ${tableOf(table)} SET body = ${placeholder(1)}`, [text]);
        else {
          const where = `name = ${placeholder(2)}`;
          await write(`UPDATE ${tableOf(table)} SET body = ${placeholder(1)} WHERE ${where}`, [text, name]);
        }
      },
      async remove(path) {
        const [table, name] = place(path);
        await write(`DELETE FROM ${tableOf(table)} WHERE name = ${placeholder(1)}`, [name]);
      },
    },
    patienceMs: 30_000,
    async close() {
      await provider.close?.();
      await writer.run(`DROP SCHEMA ${quote(schema)}${isPostgres ? ' CASCADE' : ''}`);
    },
  };
}

const rowJson = (schema: string, table: string, name: string, body: string): string =>
  `${JSON.stringify({ schema, table, row: { name, body }, links: {} }, null, 2)}\n`;
