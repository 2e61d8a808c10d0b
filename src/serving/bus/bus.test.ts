import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import type { Bus } from '../../core/bus.ts';
import { SILENT } from '../../core/context.ts';
import { type CarrierEvents, createBus } from './bus.ts';
import { busAt, createHub } from './hub.ts';
import { type ProcessChannel, serveWorker, workerBus } from './worker.ts';

const buses: Bus[] = [];
afterEach(async () => {
  await Promise.all(buses.splice(0).map((each) => each.close()));
});

/** Resolves to the first `count` messages that a bus hears on a topic, once it has heard them. */
function hearing(bus: Bus, topic: string, count: number): Promise<readonly unknown[]> {
  const heard: unknown[] = [];
  return new Promise((resolve) => {
    bus.listen(topic, (data) => {
      heard.push(data);
      if (heard.length === count) resolve(heard);
    });
  });
}

describe('a bus', () => {
  it('sends equal messages that leave together once, and only to the others', async () => {
    const hub = createHub();
    const [one, other] = [busAt(hub), busAt(hub)];
    buses.push(one, other);
    const here = hearing(one, 'a', 1);
    const there = hearing(other, 'a', 2);
    for (let each = 0; each < 1_000; each++) one.publish('a', { uri: 'x' });
    one.publish('a', 'end');
    expect(await there).toEqual([{ uri: 'x' }, 'end']);
    other.publish('a', 'back');
    expect(await here).toEqual(['back']);
    hub.close();
  });

  it('sends a message that is published twice only once, in its later place', async () => {
    const hub = createHub();
    const [one, other] = [busAt(hub), busAt(hub)];
    buses.push(one, other);
    const there = hearing(other, 'a', 2);
    for (const word of ['on', 'off', 'on']) one.publish('a', word);
    expect(await there).toEqual(['off', 'on']);
    hub.close();
  });

  it('drops the waiting messages when they are too long together, and tells the others', async () => {
    const hub = createHub();
    const [one, other] = [busAt(hub), busAt(hub)];
    buses.push(one, other);
    const lost = new Promise<void>((resolve) => void other.onMended(resolve));
    for (let each = 0; each < 5; each++) one.publish('a', { each, text: 'x'.repeat(4 * 1024 * 1024) });
    await lost;
    hub.close();
  });

  it('counts its messages, and logs once that it is full', async () => {
    const warnings: string[] = [];
    const sent: string[] = [];
    const hub = createHub();
    const carrier = { whole: true, memory: hub.memory, close: async () => hub.close() };
    const send = async (text: string): Promise<boolean> => sent.push(text) > 0;
    const log = { ...SILENT, warn: (message: string) => void warnings.push(message) };
    const bus = createBus(() => ({ ...carrier, send }), log);
    expect(bus.state()).toMatchObject({ sent: 0, waiting: 0, lagMs: undefined, whole: true });
    for (let each = 0; each < 25_000; each++) bus.publish('a', each);
    expect(bus.state()).toMatchObject({ dropped: 20_000, waiting: 5_000 });
    expect(warnings).toEqual(['the bus is full: other replicas count everything as changed']);
    await bus.close();
    // The news of the loss comes first, and then the later messages.
    expect(sent[0]).toBe('null');
    expect(bus.state()).toMatchObject({ sent: 5_000, waiting: 0, lagMs: expect.any(Number) });
    expect(bus.state().sentBytes).toBe(sent.join('').length);
  });

  it.each([
    ['messages', 1],
    ['the news of an earlier loss', 10_001],
  ])('tells the others of messages that were dropped while %s left', async (_what, count) => {
    const sent: string[] = [];
    const releases: (() => void)[] = [];
    const hub = createHub();
    const bus = createBus(() => ({
      whole: true,
      memory: hub.memory,
      async send(text) {
        sent.push(text);
        await new Promise<void>((resolve) => releases.push(resolve));
        return true;
      },
      close: async () => hub.close(),
    }));
    for (let each = 0; each < count; each++) bus.publish('a', each);
    await until(() => sent.length > 0, 'a text that leaves');
    const before = sent.length;
    for (let each = 0; each < 10_001; each++) bus.publish('b', each);
    const letting = setInterval(() => {
      for (const release of releases.splice(0)) release();
    }, 1);
    await bus.close();
    clearInterval(letting);
    expect(sent.slice(before)).toContain('null');
  });

  it('replaces all earlier texts of a key by one text', async () => {
    const hub = createHub();
    const { memory } = hub;
    await memory.put('k', 'a', '1', 60_000);
    await memory.replace('k', 'b', '2', 60_000);
    await memory.put('k', 'c', '3', 60_000);
    expect([...(await memory.all('k')).keys()].sort()).toEqual(['b', 'c']);
    hub.close();
  });

  it('tells the others of a loss as soon as it can', async () => {
    const sent: string[] = [];
    let whole = false;
    const opened: CarrierEvents[] = [];
    let arrived: () => void = () => {};
    const bus = createBus((given) => {
      opened.push(given);
      return {
        async send(text) {
          if (whole) sent.push(text);
          arrived();
          return whole;
        },
        get whole() {
          return whole;
        },
        memory: createHub().memory,
        close: async () => {},
      };
    });
    buses.push(bus);
    const once = (): Promise<void> =>
      new Promise((resolve) => {
        arrived = resolve;
      });
    const tried = once();
    bus.publish('a', 1);
    await tried;
    whole = true;
    const again = once();
    opened[0]?.mended();
    await again;
    expect(sent).toEqual(['null']);
    let mended = 0;
    bus.onMended(() => mended++);
    opened[0]?.received('null');
    expect(mended).toBe(1);
  });
});

describe('the memory of a hub', () => {
  it('keeps fields of a key until its time is over', async () => {
    let now = 0;
    const hub = createHub(() => now);
    expect(await hub.memory.put('k', 'a', '1', 1_000)).toBe(1);
    expect(await hub.memory.put('k', 'b', '2', 10)).toBe(2);
    now = 999;
    expect([...(await hub.memory.all('k'))]).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    await hub.memory.remove('k', 'a');
    expect(await hub.memory.put('k', 'b', '3', 1)).toBe(1);
    now = 1_001;
    expect((await hub.memory.all('k')).size).toBe(0);
    hub.close();
  });
});

describe('the bus of a worker', () => {
  it('reaches other workers and the memory through the parent, which gives the keys', async () => {
    const hub = createHub();
    const keys = [new Uint8Array(32).fill(3)];
    /** A channel between two ends of this process. */
    function channels(): readonly [ProcessChannel, ProcessChannel] {
      const listeners: readonly [Set<(message: unknown) => void>, Set<(message: unknown) => void>] = [
        new Set(),
        new Set(),
      ];
      const end = (own: 0 | 1): ProcessChannel => ({
        send: (message) =>
          queueMicrotask(() => {
            for (const each of [...listeners[own === 0 ? 1 : 0]]) each(message);
          }),
        onMessage(listener) {
          listeners[own].add(listener);
          return () => listeners[own].delete(listener);
        },
      });
      return [end(0), end(1)];
    }
    const join = async () => {
      const [parent, worker] = channels();
      serveWorker(parent, hub, keys);
      return workerBus(worker);
    };
    const [one, other] = [await join(), await join()];
    buses.push(one.bus, other.bus);
    expect(one.keys.map((key) => Buffer.from(key))).toEqual([Buffer.from(keys[0] ?? [])]);
    const heard = hearing(other.bus, 'a', 1);
    one.bus.publish('a', 'b');
    expect(await heard).toEqual(['b']);
    expect(await one.bus.memory.put('k', 'f', 't', 1_000)).toBe(1);
    expect([...(await other.bus.memory.all('k'))]).toEqual([['f', 't']]);
    await other.bus.memory.remove('k', 'f');
    expect((await one.bus.memory.all('k')).size).toBe(0);
    expect(await one.bus.memory.lease('l', 'one', 60_000)).toBe(true);
    expect(await other.bus.memory.lease('l', 'other', 60_000)).toBe(false);
    await one.bus.memory.release('l', 'one');
    expect(await other.bus.memory.lease('l', 'other', 60_000)).toBe(true);
    hub.close();
  });
});
