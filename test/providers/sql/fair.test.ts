/** Slow saved queries of one principal do not keep others from reading rows: through the wire, on the real databases. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SqlOptions, sqlProvider } from '../../../src/providers/sql/index.ts';
import { ERAS } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { NO_PLACE, neighbours, textOf } from '../../security/neighbours.ts';
import type { DatabaseServer } from '../../services/database.ts';
import { describeWith } from '../../services/service.ts';
import { makeDatabase, SERVERS, type Writer } from './servers.ts';
import { makeStore } from './sqlite-store.ts';

/** A database with a slow query and a row to read. */
interface Shop {
  readonly options: SqlOptions;
  /** A query that runs longer than any test. */
  readonly slow: string;
  /** The URI of a row, and a text that the row contains. */
  readonly row: string;
  readonly holds: string;
}

const many = (uri: string, count: number): readonly string[] => Array.from({ length: count }, () => uri);

/** Every kind of database has to pass this. */
function fairness(shop: () => Shop): void {
  const serve = (options: Partial<SqlOptions> = {}) => {
    const { options: source, slow } = shop();
    // So long that no answer in a test can have waited for the end of a slow query.
    const queries = { slow: { sql: slow } };
    return sqlProvider({ ...source, queries, statementTimeoutSeconds: 60, ...options });
  };
  const slow = (): string => `${new URL(shop().row).protocol}///~queries/slow`;

  it.each(ERAS)('lets a caller read a row while 30 slow queries of another caller still run, %s', async (era) => {
    await using on = await neighbours(era, await serve({ connections: 4 }));
    const flood = await on.flood(many(slow(), 30));
    for (let n = 0; n < 5; n++) {
      expect(textOf(await on.bob('resources/read', { uri: shop().row }))).toContain(shop().holds);
    }
    expect(textOf(await on.bob('resources/read', { uri: `${shop().row.replace(/\/[^/]*$/, '')}/~count` }))).toMatch(
      /\d/,
    );
    expect(flood.answered).toEqual([]);
  });

  it('refuses the requests of one caller that are too many, with a time to try again, and answers other callers', async () => {
    await using on = await neighbours('modern', await serve({ connections: 2 }));
    const flood = await on.flood(many(slow(), 300));
    // One query runs, as many wait as one caller may (a quarter of all places), and the others are refused.
    await until(() => flood.answered.length > 0, 'a refusal');
    for (const { error } of flood.answered) expect(error).toMatchObject(NO_PLACE('connections'));
    expect(textOf(await on.bob('resources/read', { uri: shop().row }))).toContain(shop().holds);
  });

  it('with one connection answers another caller after the running statement, which the timeout ends', async () => {
    await using on = await neighbours('modern', await serve({ connections: 1, statementTimeoutSeconds: 1 }));
    // This read also loads the catalogue, which the later one uses.
    expect(textOf(await on.bob('resources/read', { uri: shop().row }))).toContain(shop().holds);
    const flood = await on.flood(many(slow(), 12));
    expect(textOf(await on.bob('resources/read', { uri: shop().row }))).toContain(shop().holds);
    // In the order of arrival, all of them would have been answered before.
    expect(flood.answered.length).toBeLessThan(12);
    for (const { error } of flood.answered) expect(error?.data).toMatchObject({ reason: 'timeout' });
  });
}

describe('SQLite', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-fair-sql-'));
    makeStore(join(folder, 'store.sqlite')).close();
  });
  afterAll(async () => await rm(folder, { recursive: true, force: true }));

  fairness(() => ({
    options: { sql: join(folder, 'store.sqlite'), watch: false },
    slow: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n',
    row: 'sqlite:///Artist/1',
    holds: 'birch kestrel 1',
  }));
});

for (const kind of SERVERS) {
  describeWith([kind.service])(kind.service.name, () => {
    let server: DatabaseServer;
    let writer: Writer;

    beforeAll(async () => {
      server = await kind.start();
      writer = await makeDatabase(kind, server, 'fair');
      await writer.run('CREATE TABLE Artist (ArtistId integer PRIMARY KEY, Name varchar(100))');
      await writer.run("INSERT INTO Artist VALUES (1, 'birch kestrel 1')");
    });
    afterAll(async () => {
      await writer?.[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    });

    fairness(() => ({
      options: { sql: server.url('fair'), watch: false },
      slow: kind.sleep(100),
      row: `${kind.scheme}:///${kind.schemaOf('fair')}/${kind.scheme === 'postgres' ? 'artist' : 'Artist'}/1`,
      holds: 'birch kestrel 1',
    }));
  });
}
