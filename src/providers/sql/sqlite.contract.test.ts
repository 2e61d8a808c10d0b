import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { treeUri } from '../../core/uri.ts';
import type { Leaves, ProviderFixture } from '../../testing/fixture.ts';
import { readLeaf } from '../../testing/observe.ts';
import { providerContract } from '../../testing/provider-contract.ts';
import { sqlProvider } from './index.ts';
import { encodeName } from './keys.ts';

const OWN: ReadonlySet<string> = new Set(['~schema', '~rows', '~count']);

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const textOf = (bytes: Uint8Array): string =>
  bytes.byteLength > 1_000 ? Buffer.from(bytes).toString('hex') : Buffer.from(bytes).toString();

const rowJson = (table: string, name: string, body: string): string =>
  `${JSON.stringify({ table, row: { name, body }, links: {} }, null, 2)}\n`;

const uriOf = (path: string): string => {
  const segments = path === '' ? [] : path.split('/');
  return treeUri(
    'sqlite',
    segments.map((name) => (OWN.has(name) ? name : encodeName(name))),
  );
};

/** Folders of the seed as tables, and their files as rows. */
async function sqliteFixture(seed: Leaves): Promise<ProviderFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'vitrine-sql-'));
  const file = join(folder, 'contract.db');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
  const rows = [...seed].filter(([path]) => path.split('/').length === 2);
  const tables = [...new Set(rows.map(([path]) => path.split('/')[0] ?? ''))];
  for (const table of tables) database.exec(`CREATE TABLE ${quote(table)} (name TEXT PRIMARY KEY, body TEXT)`);

  const place = (path: string): [string, string] => {
    const [table = '', name = ''] = path.split('/');
    return [table, name];
  };
  const insert = (path: string, text: string): void => {
    const [table, name] = place(path);
    database.prepare(`INSERT INTO ${quote(table)} (name, body) VALUES (?, ?)`).run(name, text);
  };
  let changes = 0;
  const replace = (path: string, text: string): void => {
    const [table, name] = place(path);
    changes++;
    if (table === '~schema') database.exec(`CREATE TABLE extra_${changes} (a)`);
    else if (name === '~schema') database.exec(`ALTER TABLE ${quote(table)} ADD COLUMN extra_${changes}`);
    else if (name === '~rows') database.prepare(`UPDATE ${quote(table)} SET body = ?`).run(text);
    else if (name === '~count') insert(`${table}/another`, text);
    else database.prepare(`UPDATE ${quote(table)} SET body = ? WHERE name = ?`).run(text, name);
  };

  const leaves = new Map<string, Uint8Array>();
  for (const [path, bytes] of rows) {
    insert(path, textOf(bytes));
    leaves.set(path, Buffer.from(rowJson(...place(path), textOf(bytes))));
  }
  const provider = await sqlProvider({
    sql: file,
    name: 'contract',
    maxBytes: 16_000_000,
    maxValueBytes: 1_000_000,
    watch: { pollSeconds: 0.1 },
  });
  for (const path of ['~schema', ...tables.flatMap((table) => [...OWN].map((name) => `${table}/${name}`))])
    leaves.set(path, (await readLeaf(provider, uriOf(path))).bytes);
  return {
    provider,
    leaves,
    uriOf,
    hierarchical: true,
    mutate: {
      create: insert,
      replace,
      remove(path) {
        const [table, name] = place(path);
        database.prepare(`DELETE FROM ${quote(table)} WHERE name = ?`).run(name);
      },
    },
    patienceMs: 30_000,
    async close() {
      await provider.close?.();
      database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

providerContract('sql, SQLite', sqliteFixture);
