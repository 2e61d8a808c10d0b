/** SQLite never executes a text of a caller or a name in a file as SQL. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { ResourceError } from '../../src/core/errors.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { encodeSegment, treeUri } from '../../src/core/uri.ts';
import { sqlProvider } from '../../src/providers/sql/index.ts';
import { encodeName } from '../../src/providers/sql/keys.ts';
import { EVERYTHING, listAll, thrownBy } from '../../src/testing/observe.ts';
import { jsonOf, pagesOf, type ShownRow } from '../providers/sql/reading.ts';
import { quote } from '../providers/sql/sqlite-store.ts';
import { ATTACKS } from './sql.ts';

const ctx = createContext();
const SECRET = 'the secret value';
let folder: string;
let provider: ResourceProvider;
let writer: InstanceType<typeof DatabaseSync>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-injection-'));
  writer = new DatabaseSync(join(folder, 'victim.db'));
  writer.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN');
  writer.exec('CREATE TABLE victim (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE hidden (secret TEXT)');
  writer.prepare('INSERT INTO hidden VALUES (?)').run(SECRET);
  const insert = writer.prepare('INSERT INTO victim VALUES (?, ?)');
  for (const text of ATTACKS) insert.run(text, `value of ${text}`);
  for (const [at, text] of ATTACKS.entries()) {
    // The number makes names of tables differ that are the same apart from their case.
    const name = `${text} ${at}`;
    writer.exec(`CREATE TABLE ${quote(name)} (${quote(text)} TEXT PRIMARY KEY, ${quote(`${text}'`)} TEXT)`);
    writer.prepare(`INSERT INTO ${quote(name)} VALUES ('k', 'v')`).run();
  }
  writer.exec('COMMIT');
  provider = await sqlProvider({
    sql: join(folder, 'victim.db'),
    tables: { exclude: ['hidden'] },
    watch: false,
    queries: { find: { sql: 'SELECT value FROM victim WHERE key = ?1', parameters: { key: {} } } },
  });
});

afterAll(async () => {
  await provider?.close?.();
  writer?.close();
  await rm(folder, { recursive: true, force: true });
});

const isIntact = async (): Promise<void> => {
  expect((await jsonOf<{ rows: number }>(provider, 'sqlite:///victim/~count')).rows).toBe(ATTACKS.length);
};

describe('SQL injection', () => {
  it('has no effect in keys: each is one row [SEC-RES-5]', async () => {
    const rows = await pagesOf(provider, 'sqlite:///victim');
    expect(rows).toHaveLength(ATTACKS.length);
    for (const text of ATTACKS) {
      const uri = treeUri('sqlite', ['victim', encodeName(text)]);
      expect((await jsonOf(provider, uri)).row, uri).toEqual({ key: text, value: `value of ${text}` });
    }
    await isIntact();
  });

  it('has no effect in typed URIs: they name a row, or none', async () => {
    for (const text of ATTACKS) {
      for (const uri of [
        `sqlite:///victim/${encodeSegment(text)}`,
        `sqlite:///${encodeSegment(text)}`,
        `sqlite:///victim/~after/${encodeSegment(text)}`,
        `sqlite:///victim/x/${encodeSegment(text)}`,
        `sqlite:///hidden/${encodeSegment(text)}`,
      ]) {
        const error = await thrownBy(async () => {
          const bodies = await provider.read(uri, EVERYTHING, ctx);
          expect(JSON.stringify(bodies.map(({ content }) => content))).not.toContain(SECRET);
        });
        if (error === undefined) continue;
        expect(error, uri).toBeInstanceOf(ResourceError);
        expect(['not-found', 'invalid'], uri).toContain((error as ResourceError).code);
        expect((error as ResourceError).message).not.toMatch(/select|syntax|token|sqlite_/i);
      }
    }
    await isIntact();
  });

  it('has no effect in names of tables and columns: each is listed, described and read', async () => {
    const listed = new Set((await listAll(provider, 'sqlite:///')).map(({ name }) => name));
    for (const [at, text] of ATTACKS.entries()) {
      const name = `${text} ${at}`;
      expect(listed.has(name), name).toBe(true);
      const uri = treeUri('sqlite', [encodeName(name)]);
      expect((await listAll(provider, uri)).map((each) => each.name)).toEqual(['~schema', '~rows', '~count', 'k']);
      expect((await jsonOf<ShownRow>(provider, `${uri}/k`)).row).toEqual({ [text]: 'k', [`${text}'`]: 'v' });
      const value = `${uri}/k/${encodeSegment(encodeName(`${text}'`))}`;
      expect((await provider.metadata(value, ctx)).name).toBe(`${text}'`);
    }
    await isIntact();
  });

  it('has no effect in cursors, parameters of saved queries, and completions', async () => {
    const { resourceTemplates = [] } = (await provider.listTemplates?.({ limit: 1_000 }, ctx)) ?? {};
    const template = resourceTemplates.find(({ uriTemplate }) => uriTemplate === 'sqlite:///victim/{key}');
    expect(template).toBeDefined();
    for (const text of ATTACKS) {
      for (const cursor of [text, `r${text}`, `o${text}`]) {
        const error = await thrownBy(() => provider.list('sqlite:///victim', { cursor, limit: 3 }, ctx));
        if (error !== undefined) expect(error, cursor).toMatchObject({ code: 'invalid' });
      }
      const found = await thrownBy(async () => {
        const uri = `sqlite:///~queries/find?key=${encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)}`;
        const { rows } = await jsonOf<{ rows: readonly ShownRow[] }>(provider, uri);
        expect(rows).toEqual([{ row: { value: `value of ${text}` } }]);
      });
      // Only a text that is too long is refused.
      if (found !== undefined) expect([(found as ResourceError).code, text.length > 1_024]).toEqual(['invalid', true]);
      const request = { uriTemplate: 'sqlite:///victim/{key}', variable: 'key', known: {}, limit: 100 };
      const typed = encodeName(text);
      expect((await provider.complete?.({ ...request, value: typed }, ctx))?.values, text).toContain(typed);
      await provider.complete?.({ ...request, value: text }, ctx);
    }
    await isIntact();
  });
});
