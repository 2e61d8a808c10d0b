/** Three replicas of one PostgreSQL: one of them listens there, and the subscribers of all get updates. */
import { expect, it } from 'vitest';
import { sqlProvider } from '../../src/providers/sql/index.ts';
import { createHub } from '../../src/serving/bus/hub.ts';
import { until } from '../e2e/waiting.ts';
import { SERVERS } from '../providers/sql/servers.ts';
import { postgres } from '../services/postgres.ts';
import { describeWith } from '../services/service.ts';
import { faultyBus } from './faulty-bus.ts';
import { serveReplica } from './in-process.ts';
import { connectInTurn } from './in-turn.ts';

const KEYS = [new Uint8Array(32).fill(7)];
const CHANNEL = 'changed';

describeWith([postgres])('a PostgreSQL that three replicas serve', () => {
  it('is listened to by one of them, and by another one when the first is killed', async () => {
    const kind = SERVERS.find(({ scheme }) => scheme === 'postgres');
    if (kind === undefined) throw new Error('PostgreSQL is among the servers');
    await using database = await kind.start();
    await using writer = await kind.connect(database.url());
    await writer.run("CREATE TABLE notes (id integer PRIMARY KEY, text text); INSERT INTO notes VALUES (1, 'first')");
    const hub = createHub();

    /** @param uri the resource that its client subscribes to */
    async function start(uri: string) {
      const faults = faultyBus(hub);
      const provider = await sqlProvider({ sql: database.url(), watch: { channel: CHANNEL } });
      const replica = await serveReplica({
        mounts: [{ name: 'db', provider, prefix: 'none' }],
        keys: KEYS,
        bus: faults.bus,
      });
      const client = await connectInTurn(() => [replica.serving.url], { ends: false });
      await until(() => client.holder !== undefined, 'the stream');
      await client.request('resources/subscribe', { uri });
      return { uri, faults, replica, client };
    }

    const row = 'postgres:///public/notes/1';
    // The clients have different subscriptions.
    let all = [await start(row), await start('postgres:///public/notes'), await start(row)];
    const listening = (): Promise<true> =>
      until(async () => {
        const rows = await writer.rows("SELECT pid FROM pg_stat_activity WHERE query ILIKE 'listen%'");
        return rows.length === 1;
      }, 'one that listens');

    async function changes(text: string, act: () => Promise<void> = async () => {}): Promise<void> {
      const before = all.map(({ client, uri }) => client.updates.get(uri) ?? 0);
      await act();
      await writer.run(`UPDATE notes SET text = '${text}' WHERE id = 1; NOTIFY ${CHANNEL}`);
      await Promise.all(all.map(({ client, uri }, at) => client.told(uri, before[at] ?? 0)));
      for (const { client } of all) {
        const read = await client.request('resources/read', { uri: row });
        expect(JSON.stringify(read)).toContain(text);
      }
    }

    try {
      await listening();
      await changes('second');
      await listening();
      const [killed] = all;
      all = all.slice(1);
      await changes('while nobody listened', async () => {
        killed?.faults.cut();
        await killed?.client[Symbol.asyncDispose]();
        await killed?.replica.close();
      });
      await listening();
      await changes('after');
    } finally {
      await Promise.all(all.map(({ client }) => client[Symbol.asyncDispose]()));
      await Promise.all(all.map(({ replica }) => replica.close()));
      hub.close();
    }
  });
});
