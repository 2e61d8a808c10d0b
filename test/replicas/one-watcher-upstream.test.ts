/** Three replicas of one mounted server: one of them subscribes there, in either era, and the caches of the others stay correct. */
import { describe, expect, it } from 'vitest';
import { upstream } from '../../src/providers/upstream/index.ts';
import { createHub } from '../../src/serving/bus/hub.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { until } from '../e2e/waiting.ts';
import { countedUpstream } from './counted-upstream.ts';
import { faultyBus } from './faulty-bus.ts';
import { serveReplica } from './in-process.ts';
import { connectInTurn } from './in-turn.ts';

const KEYS = [new Uint8Array(32).fill(7)];
const NOTE = 'file:///note.txt';

describe.each(['2025', '2026'] as const)('a mounted server in %s', (era) => {
  it('has a subscription of one of three replicas, and of another one when the first is killed', async () => {
    await using folder = await temporaryFolder({ 'note.txt': 'first' });
    await using server = await countedUpstream(folder.path);
    const hub = createHub();

    async function start(number: number) {
      const faults = faultyBus(hub);
      const { provider, server: mounted } = upstream({
        name: 'up',
        target: { url: server.url, headers: { 'x-replica': String(number) } },
        era,
      });
      const replica = await serveReplica({
        mounts: [{ name: 'up', provider, server: mounted, prefix: 'none' }],
        keys: KEYS,
        bus: faults.bus,
      });
      const client = await connectInTurn(() => [replica.serving.url], { ends: false });
      await until(() => client.holder !== undefined, 'the stream');
      await client.request('resources/subscribe', { uri: NOTE });
      return { number, faults, replica, client };
    }

    let all = [await start(0), await start(1), await start(2)];
    const subscribed = (count: number): Promise<readonly string[]> =>
      until(() => {
        const found = server.subscribed(NOTE);
        return found.length === count && found;
      }, `${count} that subscribe`);

    async function changes(text: string): Promise<void> {
      // Each replica caches what it reads, as the server allows.
      for (const { client } of all) await client.request('resources/read', { uri: NOTE });
      const before = all.map(({ client }) => client.updates.get(NOTE) ?? 0);
      await folder.write('note.txt', text);
      await Promise.all(all.map(({ client }, at) => client.told(NOTE, before[at] ?? 0)));
      for (const { client } of all)
        expect(await client.request('resources/read', { uri: NOTE })).toMatchObject({ contents: [{ text }] });
    }

    try {
      expect(await subscribed(1)).toEqual(['0']);
      await changes('second');
      const [killed] = all;
      all = all.slice(1);
      const before = all.map(({ client }) => client.updates.get(NOTE) ?? 0);
      killed?.faults.cut();
      await killed?.client[Symbol.asyncDispose]();
      await killed?.replica.close();
      await folder.write('note.txt', 'while nobody was subscribed');
      await Promise.all(all.map(({ client }, at) => client.told(NOTE, before[at] ?? 0)));
      await changes('after');
      expect(await subscribed(1)).not.toEqual(['0']);
    } finally {
      await Promise.all(all.map(({ client }) => client[Symbol.asyncDispose]()));
      await Promise.all(all.map(({ replica }) => replica.close()));
      hub.close();
    }
  });
});

it('a mounted program has no shared watch, because each replica runs one of its own', async () => {
  const up = upstream({ name: 'up', target: { command: 'true' }, start: 'lazy' });
  expect([up.provider.heard, up.server.heard]).toEqual([undefined, undefined]);
  await up.close();
});
