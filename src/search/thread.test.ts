import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { ResourceError } from '../core/errors.ts';
import { sqlitePackage } from './library.ts';
import { SqlFault, type SqlThread, type Statement, sqlThread } from './thread.ts';

/** Takes some tenths of a second for each million. */
const counting = (millions: number): Statement => [
  'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT ?) SELECT max(n) FROM c',
  millions * 1_000_000,
];
const QUICK: Statement = ['SELECT 1'];

const isTimeout = (error: unknown): boolean => error instanceof ResourceError && error.code === 'timeout';
const isGone = (error: unknown): boolean => error instanceof SqlFault && error.kind === 'gone';

describe('the thread of a database', () => {
  const threads: SqlThread[] = [];
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];
  afterEach(async () => {
    await Promise.all(threads.splice(0).map((thread) => thread.close()));
    for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
  });

  async function writing(file?: string): Promise<{ readonly file: string; readonly thread: SqlThread }> {
    const folder = await temporaryFolder({});
    folders.push(folder);
    const place = file ?? join(folder.path, 'a.sqlite');
    const thread = sqlThread({ library: sqlitePackage(), file: place, lock: `${place}.lock`, pragmas: [] });
    threads.push(thread);
    await thread.run([['CREATE TABLE IF NOT EXISTS t (n)']]);
    return { file: place, thread };
  }

  async function reading(): Promise<SqlThread> {
    const { file } = await writing();
    const thread = sqlThread({ library: sqlitePackage(), file, pragmas: [] });
    threads.push(thread);
    await thread.run([QUICK]);
    return thread;
  }

  it('ends a question that takes too long, and answers waiting and later ones', async () => {
    const thread = await reading();
    const slow = thread.run([counting(10)], false, 200);
    const waiting = Array.from({ length: 5 }, () => thread.run([QUICK], false, 10_000));
    await expect(slow).rejects.toSatisfy(isTimeout);
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 5 }, () => [[[1]]]));
    expect(await thread.run([QUICK], false, 10_000)).toEqual([[[1]]]);
    expect(thread.waiting).toBe(0);
  });

  it('counts the time of a question from its start', async () => {
    const thread = await reading();
    const begun = performance.now();
    await thread.run([counting(0.5)]);
    const one = performance.now() - begun;
    const all = Array.from({ length: 9 }, () => thread.run([counting(0.5)], false, one * 4));
    expect(await Promise.all(all)).toHaveLength(9);
  });

  it('answers again after many questions that take too long', async () => {
    const thread = await reading();
    const slow = await Promise.allSettled(Array.from({ length: 6 }, () => thread.run([counting(5)], false, 100)));
    for (const each of slow) expect(each.status === 'rejected' && isTimeout(each.reason)).toBe(true);
    expect(await thread.run([QUICK], false, 30_000)).toEqual([[[1]]]);
  });

  it('runs no statement twice if one of a writing thread takes too long', async () => {
    const { thread, file } = await writing();
    const slow = thread.run([counting(5)], false, 200);
    const waiting = thread.run([['INSERT INTO t VALUES (1)']], true);
    await expect(slow).rejects.toSatisfy(isGone);
    await expect(waiting).rejects.toSatisfy(isGone);
    await thread.close();
    const { thread: again } = await writing(file);
    const [rows] = await again.run([['SELECT count(*) FROM t']]);
    expect(rows?.[0]?.[0]).toBeLessThan(2);
  });

  it('closes after the running question', async () => {
    const thread = await reading();
    const all = [thread.run([counting(3)]), thread.run([QUICK])];
    await thread.close();
    expect(await Promise.all(all)).toEqual([[[[3_000_000]]], [[[1]]]]);
    const late = thread.run([counting(5)], false, 100);
    await expect(late).rejects.toSatisfy(isTimeout);
    await thread.close();
  });

  it('finishes all waiting work before it closes, even with a full queue', async () => {
    const { thread, file } = await writing();
    const all = Array.from({ length: 256 }, (_, n) => thread.run([['INSERT INTO t VALUES (?)', n]], true));
    await expect(thread.run([QUICK])).rejects.toThrow('Too many searches wait');
    const closed = thread.close();
    expect(await Promise.allSettled(all)).toEqual(all.map(() => ({ status: 'fulfilled', value: [[]] })));
    await closed;
    const { thread: again } = await writing(file);
    expect(await again.run([['SELECT count(*) FROM t']])).toEqual([[[256]]]);
  });
});
