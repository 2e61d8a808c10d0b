// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how references are written
/** An index in PostgreSQL: the laws of every store, several servers with one index, and a database that goes away and comes back. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SILENT } from '../../src/core/context.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { createIndex, type IndexOptions } from '../../src/search/index.ts';
import type { IndexStore } from '../../src/search/index-store.ts';
import { openConnections } from '../../src/search/postgres/connections.ts';
import { quoted } from '../../src/search/postgres/schema.ts';
import { postgresStore } from '../../src/search/postgres/store.ts';
import { SqlFault } from '../../src/search/thread.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { CLI } from '../e2e/harness.ts';
import type { DatabaseServer } from '../services/database.ts';
import { postgres, startPostgres } from '../services/postgres.ts';
import { describeWith } from '../services/service.ts';
import { type Engine, type EngineOptions, engineOf, structured, textOf } from '../tools/engine.ts';
import { findsOnlyWhatIsSeen, type TwoIndexes } from './found-by-whom.ts';
import { entry, found as foundIn, storeCases } from './store-cases.ts';

let server: DatabaseServer;
let count = 0;
const nextSchema = (): string => `index "${count++}"`;

async function found(engine: Engine, pattern: string): Promise<readonly string[]> {
  const result = await engine.call('search', { pattern, mode: 'ranked' });
  if (result.isError) throw new Error(textOf(result));
  return structured<{ matches: { uri: string }[] }>(result).matches.map(({ uri }) => uri);
}

async function serving(
  folder: string,
  options: Partial<IndexOptions>,
  more: Pick<EngineOptions, 'forms'> = {},
): Promise<Engine> {
  const index = createIndex({ url: server.url(), ...options });
  return engineOf({ m: await filesProvider({ path: folder }) }, { index, ...more });
}

describeWith([postgres])('an index in PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  describe('its store', () => {
    const open: IndexStore[] = [];
    afterEach(async () => {
      await Promise.all(open.splice(0).map((store) => store.close()));
    });

    async function emptyStore(): Promise<IndexStore> {
      const store = postgresStore({
        ...{ url: server.url(), schema: nextSchema(), maxBytes: 1e9, settings: '', stemming: 'english' },
        ...{ diacritics: 'fold', log: { debug() {}, info() {}, warn() {}, error() {} }, lost() {} },
      });
      open.push(store);
      await store.open();
      expect(await store.sharing?.lead()).toBe(true);
      return store;
    }

    storeCases(emptyStore);

    it('is made anew while somebody reads it, and neither of the two fails', async () => {
      const store = await emptyStore();
      await store.put([entry('a.md', 'clock')]);
      const schema = `index "${count - 1}"`;
      const table = (name: string): string => `${quoted(schema)}.${name}`;
      const reader = new pg.Client(server.url());
      await reader.connect();
      try {
        await reader.query(`BEGIN; SELECT FROM ${table('kind')}`);
        const made = store.discard();
        const waiting = "SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'";
        await expect.poll(async () => (await reader.query(waiting)).rowCount).toBe(1);
        for (const name of ['chunk', 'resource', 'meta']) await reader.query(`SELECT FROM ${table(name)}`);
        await reader.query('COMMIT');
        await made;
        expect((await reader.query(`SELECT FROM ${table('kind')}`)).rowCount).toBe(0);
      } finally {
        await reader.end();
      }
    });

    it('has a kind of resources even if the first entries of that kind were refused', async () => {
      const store = await emptyStore();
      const kind = { kind: 'new' };
      for (const more of [{ size: 1.5 }, { size: 1e30 }, { type: 'text/plain\0' }])
        await expect(store.put([entry('bad.md', 'clock', { ...kind, ...more })])).rejects.toMatchObject({
          code: 'invalid',
        });
      await store.put([entry('a.md', 'clock', kind), entry('b.md', 'clock', { kind: 'other' })]);
      expect((await store.kinds()).map(({ key }) => key).sort()).toEqual(['new', 'other']);
      expect(await foundIn(store, 'clock')).toEqual(['a.md', 'b.md']);
    });
  });

  it('sets how soon a lost connection is noticed, even if the first attempt fails', async () => {
    const url = new URL(server.url());
    const { port, hostname } = url;
    let refused = 0;
    const proxy = createServer((client) => {
      const database = connect(Number(port), hostname);
      client.on('data', (bytes) => {
        const at = bytes.indexOf('SET tcp_keepalives_count');
        if (at >= 0 && refused++ === 0) bytes.write('SEX', at);
        database.write(bytes);
      });
      database.pipe(client);
      client.on('error', () => database.destroy()).on('close', () => database.destroy());
      database.on('error', () => client.destroy()).on('close', () => client.destroy());
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const connections = await openConnections({ url: url.href, schema: nextSchema(), log: SILENT, lost() {} });
    try {
      await expect(connections.lead()).rejects.toBeInstanceOf(SqlFault);
      const left = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'S_X tcp_keepalives%'";
      await expect.poll(() => connections.ask(left)).toEqual([[0]]);
      expect(await connections.lead()).toBe(true);
      expect(await connections.write((ask) => ask('SHOW tcp_keepalives_count'))).toEqual([['3']]);
    } finally {
      await connections.close();
      proxy.close();
    }
  });

  it('is shared: all servers answer alike, one of them follows changes, and another one does when it ends', async () => {
    await using folder = await temporaryFolder({
      'a.md': '# Clocks\n\nThe brass clock',
      'b.md': 'An iron clock, and a bell',
    });
    const schema = nextSchema();
    const first = await serving(folder.path, { schema });
    await first.vitrine.ranked?.settled();
    await using second = await serving(folder.path, { schema });
    await second.vitrine.ranked?.settled();
    for (const question of ['brass clock', 'clock', '"iron clock"', 'bell'])
      expect(await found(second, question)).toEqual(await found(first, question));
    await writeFile(join(folder.path, 'c.md'), 'A walnut case');
    await expect.poll(() => found(second, 'walnut')).toEqual(['m+file:///c.md']);
    await expect
      .poll(() => second.vitrine.ranked?.state())
      .toMatchObject({ state: 'ready', resources: 3, leftOut: {} });
    await first[Symbol.asyncDispose]();
    await writeFile(join(folder.path, 'd.md'), 'A mahogany case');
    await expect.poll(() => found(second, 'mahogany'), { timeout: 20_000 }).toEqual(['m+file:///d.md']);
  });

  it('is taken over from a killed server', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'The brass clock' });
    const schema = nextSchema();
    const config = join(folder.path, 'vitrine.yaml');
    await writeFile(config, JSON.stringify({ index: { url: '${INDEX_URL}', schema }, mounts: { m: './docs' } }));
    const env = { ...process.env, INDEX_URL: server.url() };
    const leader = spawn(process.execPath, [CLI, 'serve', '--config', config, '--http', '0'], { env, stdio: 'ignore' });
    const ended = once(leader, 'exit');
    const client = new pg.Client(server.url());
    await client.connect();
    try {
      // The index is complete only once a server follows changes.
      const whole = `SELECT FROM "${schema.replaceAll('"', '""')}".meta WHERE key = 'whole'`;
      const isWhole = async (): Promise<boolean> => (await client.query(whole).catch(() => undefined))?.rowCount === 1;
      await expect.poll(isWhole, { timeout: 60_000 }).toBe(true);
      // `forms: {}` is the default of a configuration: both servers have the same settings.
      await using second = await serving(join(folder.path, 'docs'), { schema }, { forms: {} });
      await expect.poll(() => found(second, 'brass').catch(() => []), { timeout: 30_000 }).toEqual(['m+file:///a.md']);
      leader.kill('SIGKILL');
      await ended;
      await writeFile(join(folder.path, 'docs/b.md'), 'A walnut case');
      await expect.poll(() => found(second, 'walnut'), { timeout: 30_000 }).toEqual(['m+file:///b.md']);
    } finally {
      leader.kill('SIGKILL');
      await client.end();
    }
  });

  it('reports that its database does not answer, and works again when the database does', async () => {
    await using folder = await temporaryFolder({ 'a.md': 'The brass clock' });
    // The test is about the return of the index, not about the speed of notifications: the index polls, too.
    await using engine = await serving(folder.path, { schema: nextSchema(), rescanSeconds: 1 });
    await engine.vitrine.ranked?.settled();
    await server.stop();
    try {
      await expect
        .poll(() => engine.refusal('search', { pattern: 'brass', mode: 'ranked' }))
        .toContain('The index cannot be used now: its database does not answer');
    } finally {
      await server.start();
    }
    await expect.poll(() => found(engine, 'brass').catch(() => []), { timeout: 30_000 }).toEqual(['m+file:///a.md']);
    await writeFile(join(folder.path, 'b.md'), 'A walnut case');
    await expect.poll(() => found(engine, 'walnut').catch(() => []), { timeout: 90_000 }).toEqual(['m+file:///b.md']);
  });

  it('is used only by servers with the same settings; a server with other settings makes it again once it is alone', async () => {
    await using folder = await temporaryFolder({ 'a.md': 'The brass clock of 4111 1111 1111 1111' });
    const schema = nextSchema();
    const first = await serving(folder.path, { schema });
    await first.vitrine.ranked?.settled();
    await using second = await serving(folder.path, { schema, stemming: 'off' });
    await expect
      .poll(() => second.refusal('search', { pattern: 'brass', mode: 'ranked' }))
      .toContain('another server keeps it with other settings');
    expect(await found(first, 'clocks')).toHaveLength(1);
    await first[Symbol.asyncDispose]();
    await expect.poll(() => found(second, 'clock').catch(() => []), { timeout: 30_000 }).toHaveLength(1);
    expect(await found(second, 'clocks')).toHaveLength(0);
  });

  it('reveals no password in answers and in the log', async () => {
    await using folder = await temporaryFolder({ 'a.md': 'clock' });
    const lines: unknown[] = [];
    const note = (...said: unknown[]): void => void lines.push(inspect(said, { depth: 9 }));
    const log = { debug: note, info: note, warn: note, error: note };
    const url = server.url().replace(/:[^:@]*@/, ':opensesame@');
    await using engine = await serving(folder.path, { url, log });
    await engine.vitrine.ranked?.settled();
    const refusal = await engine.refusal('search', { pattern: 'clock', mode: 'ranked' });
    expect(refusal).toContain('its database refuses the user or the password');
    expect(lines.length).toBeGreaterThan(0);
    expect(`${refusal}${lines.join()}`).not.toContain('opensesame');
  });

  it('leaves a schema with other content alone', async () => {
    const client = new pg.Client(server.url());
    await client.connect();
    await client.query('CREATE SCHEMA letters; CREATE TABLE letters.resource (id int)');
    await using folder = await temporaryFolder({ 'a.md': 'clock' });
    await using engine = await serving(folder.path, { schema: 'letters' });
    await engine.vitrine.ranked?.settled();
    expect(engine.vitrine.ranked?.state()).toMatchObject({ reason: 'its schema has tables of something else' });
    expect((await client.query('SELECT * FROM letters.resource')).rows).toEqual([]);
    await client.end();
  });

  it('finds nothing that the caller may not know, and its results reveal nothing of that', async () => {
    const twoIndexes = async (): Promise<TwoIndexes> => ({
      one: createIndex({ url: server.url(), schema: nextSchema() }),
      other: createIndex({ url: server.url(), schema: nextSchema() }),
      async [Symbol.asyncDispose]() {},
    });
    await findsOnlyWhatIsSeen(twoIndexes, (given) => given, 4);
  });
});
