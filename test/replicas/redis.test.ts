/** The bus over a real Redis: the stored data, and what replicas notice while Redis is away, or if their keys differ. */
import { createClient } from '@redis/client';
import { expect, it } from 'vitest';
import type { Bus } from '../../src/core/bus.ts';
import { type Log, SILENT } from '../../src/core/context.ts';
import { redisBus } from '../../src/serving/bus/redis/index.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const OTHER = new Uint8Array(32).fill(3);

/** Opens buses, and closes them at the end. */
function buses(url: string) {
  const open: Bus[] = [];
  return {
    async open(keys: readonly Uint8Array[], log: Log = SILENT): Promise<Bus> {
      const bus = await redisBus({ url, keys, log });
      open.push(bus);
      return bus;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((each) => each.close()));
    },
  };
}

describeWith([redis])('a bus over Redis', () => {
  it('seals everything that it stores and sends, while one key replaces another', async () => {
    await using server = await startRedis();
    await using all = buses(server.url);
    const before = await all.open([OLD]);
    const during = await all.open([NEW, OLD]);
    await before.memory.put('session:1', 'uri file:///diary.txt', 'hush', 60_000);
    expect([...(await during.memory.all('session:1'))]).toEqual([['uri file:///diary.txt', 'hush']]);
    const client = await createClient({ url: server.url }).connect();
    const kept = JSON.stringify(await client.hGetAll('{vitrine}:session:1'));
    expect(kept).not.toMatch(/diary|hush/);
    expect(await client.pTTL('{vitrine}:session:1')).toBeGreaterThan(50_000);
    await client.close();
    await during.memory.remove('session:1', 'uri file:///diary.txt');
    expect((await before.memory.all('session:1')).size).toBe(0);
    const heard = new Promise((resolve) => {
      during.listen('topic', resolve);
    });
    before.publish('topic', { uri: 'file:///diary.txt' });
    expect(await heard).toEqual({ uri: 'file:///diary.txt' });
  });

  it('gives a lease to one of the replicas that request it, until the lease expires or is released', async () => {
    await using server = await startRedis();
    await using all = buses(server.url);
    const [one, other] = [await all.open([OLD]), await all.open([OLD])];
    expect(await one.memory.lease('watch ["db",""]', 'a', 60_000)).toBe(true);
    expect(await other.memory.lease('watch ["db",""]', 'b', 60_000)).toBe(false);
    expect(await one.memory.lease('watch ["db",""]', 'a', 60_000)).toBe(true);
    const client = await createClient({ url: server.url }).connect();
    const [name = ''] = await client.keys('{vitrine}:lease:*');
    expect(await client.keys('*')).toEqual([name]);
    expect(`${name} ${await client.get(name)}`).not.toMatch(/watch|db|\ba\b/);
    expect(await client.pTTL(name)).toBeGreaterThan(50_000);
    await client.close();
    // A replica without the lease releases nothing.
    await other.memory.release('watch ["db",""]', 'b');
    expect(await other.memory.lease('watch ["db",""]', 'b', 60_000)).toBe(false);
    await one.memory.release('watch ["db",""]', 'a');
    expect(await other.memory.lease('watch ["db",""]', 'b', 50)).toBe(true);
    await until(() => one.memory.lease('watch ["db",""]', 'a', 60_000), 'the end of a lease');
  });

  it('logs that another replica has other keys, and accepts nothing from it', async () => {
    await using server = await startRedis();
    await using all = buses(server.url);
    const errors: string[] = [];
    const here = await all.open([OLD], { ...SILENT, error: (message) => void errors.push(message) });
    let heard = 0;
    here.listen('topic', () => heard++);
    const stranger = await all.open([OTHER]);
    for (const each of [1, 2]) stranger.publish('topic', each);
    await until(() => errors.length > 0, 'a word about the keys');
    expect(errors).toEqual(['a replica with none of these keys is on the bus: neither understands the other']);
    expect(heard).toBe(0);
    await stranger.memory.put('session:1', 'ended', '', 60_000);
    expect((await here.memory.all('session:1')).size).toBe(0);
  });

  it('accepts nothing while Redis is away, and reports that everything may have changed when it is back', async () => {
    await using server = await startRedis();
    await using all = buses(server.url);
    const bus = await all.open([OLD]);
    let mended = 0;
    bus.onMended(() => mended++);
    await server.stop();
    await until(() => !bus.whole, 'the bus to be away');
    await expect(bus.memory.put('k', 'f', 't', 1_000)).rejects.toMatchObject({ code: 'unavailable' });
    await server.start();
    await until(() => bus.whole && mended > 0, 'the bus to be back');
    expect(await bus.memory.put('k', 'f', 't', 1_000)).toBe(1);
  });

  it('starts without Redis, and refuses an invalid address', async () => {
    await expect(redisBus({ url: 'http://127.0.0.1', keys: [OLD], log: SILENT })).rejects.toThrow(
      'The bus is an address as in',
    );
    await using server = await startRedis();
    await server.stop();
    await using all = buses(server.url);
    const bus = await all.open([OLD]);
    expect(bus.whole).toBe(false);
    await server.start();
    await until(() => bus.whole, 'the bus to be there');
    const other = await all.open([OLD]);
    const heard = new Promise((resolve) => {
      bus.listen('topic', resolve);
    });
    other.publish('topic', 'hello');
    expect(await heard).toBe('hello');
  });
});
