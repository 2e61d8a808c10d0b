import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, it } from 'vitest';
import { mariadb, startMariadb } from './mariadb.ts';
import { postgres, startPostgres } from './postgres.ts';
import { describeWith } from './service.ts';

describeWith([postgres])('a private PostgreSQL', () => {
  it('keeps its data over a restart', async () => {
    await using server = await startPostgres();
    const ask = async (sql: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: server.url() });
      await client.connect();
      try {
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    };
    await ask('create table piece (id int primary key)');
    await ask('insert into piece values (7)');
    await server.stop();
    await expect(ask('select 1')).rejects.toThrow();
    await server.start();
    expect(await ask('select id from piece')).toEqual([{ id: 7 }]);
  });
});

describeWith([mariadb])('a private MariaDB', () => {
  it('keeps its data over a restart', async () => {
    await using server = await startMariadb();
    const ask = async (sql: string): Promise<unknown> => {
      const client = await mysql.createConnection(server.url());
      try {
        return (await client.query(sql))[0];
      } finally {
        await client.end();
      }
    };
    await ask('create table piece (id int primary key)');
    await ask('insert into piece values (7)');
    await server.stop();
    await expect(ask('select 1')).rejects.toThrow();
    await server.start();
    expect(await ask('select id from piece')).toEqual([{ id: 7 }]);
  });
});
