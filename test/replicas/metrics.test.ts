/** Metrics and readiness report the state of the bus, over a real Redis that goes away and comes back. */
import { expect, it } from 'vitest';
import { SILENT } from '../../src/core/context.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { redisBus } from '../../src/serving/bus/redis/index.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { observe } from '../telemetry/engine.ts';
import { samplesOf, total } from '../telemetry/samples.ts';

const KEYS = [new Uint8Array(32).fill(1)];

describeWith([redis])('metrics of a bus over Redis', () => {
  it('count sent and received messages, and report that Redis is away or back', async () => {
    await using server = await startRedis();
    const open = () => redisBus({ url: server.url, keys: KEYS, log: SILENT });
    const bus = await open();
    const mounts = [{ name: 'notes', provider: memoryProvider({ resources: { 'a.txt': { text: 'a' } } }) }];
    await using on = await observe({ mounts, setup: { prometheus: true }, bus, keys: KEYS });
    const other = await open();
    const value = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> =>
      total(await samplesOf(on), name, labels);
    const messages = (direction: string): Promise<number> =>
      value('vitrine_bus_messages_total', { vitrine_bus_direction: direction });
    expect(await value('vitrine_bus_state', { vitrine_bus_state: 'whole' })).toBe(1);
    expect(await (await on.get('/readyz')).json()).toEqual({ status: 'ready' });

    const [sent, heard] = [await messages('sent'), await messages('heard')];
    for (const each of [1, 2, 3]) other.publish('topic', each);
    for (const each of [1, 2]) bus.publish('topic', each);
    await until(async () => (await messages('heard')) === heard + 3, 'three messages to be heard');
    await until(async () => (await messages('sent')) === sent + 2, 'two messages to be sent');
    expect(await value('vitrine_bus_io_total', { vitrine_bus_direction: 'sent' })).toBeGreaterThan(0);
    expect(await value('vitrine_bus_lag')).toBeGreaterThan(0);
    expect(await value('vitrine_bus_dropped_total')).toBe(0);
    const mended = await value('vitrine_bus_mended_total');

    await server.stop();
    await until(() => !bus.whole, 'the bus to be away');
    bus.publish('topic', 'lost');
    await until(async () => (await value('vitrine_bus_dropped_total')) === 1, 'a message to be dropped');
    expect(await value('vitrine_bus_state', { vitrine_bus_state: 'away' })).toBe(1);
    expect(await value('vitrine_bus_state', { vitrine_bus_state: 'whole' })).toBe(0);
    expect(await (await on.get('/readyz')).json()).toEqual({ status: 'ready', bus: 'away', rates: 'counted alone' });

    await server.start();
    await until(async () => (await value('vitrine_bus_mended_total')) > mended, 'the bus to be mended');
    expect(await value('vitrine_bus_state', { vitrine_bus_state: 'whole' })).toBe(1);
    expect(await value('vitrine_bus_waiting')).toBe(0);
    await other.close();
  });
});
