/** Three processes over a real Redis that serve the same web page: one of them polls it, whichever process is killed. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { connectInTurn, type InTurn } from './in-turn.ts';
import { polledPage } from './polled-page.ts';
import { type Serving, startVitrine } from './processes.ts';
import { hasSocket } from './sockets.ts';

const NAMES = [1, 2, 3];

/** A process, with a client that uses this process only. */
interface Subscribed {
  readonly serving: Serving;
  readonly client: InTurn;
}

describeWith([redis])('a page that three processes serve over Redis', () => {
  it('is polled by one of them, and every change is reported, even if that one or Redis is killed', async () => {
    await using server = await startRedis();
    const started: Subscribed[] = [];
    await using page = await polledPage(async ({ port }) => {
      for (const { serving } of started)
        if (await hasSocket(serving.pid, port, 'connected').catch(() => false)) return serving.pid;
      return 0;
    });
    const uri = `web+${page.url}`;
    await using folder = await temporaryFolder({
      'vitrine.yaml': [
        `mounts: { web: { http: ['${page.url}'], pollSeconds: 0.2, allowPrivate: true } }`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: references to the environment
        "keys: ['${KEYS}']\nbus: '${BUS}'\n",
      ].join('\n'),
    });
    const env = { KEYS: randomBytes(32).toString('base64'), BUS: server.url };

    async function start(): Promise<void> {
      const serving = await startVitrine(['--config', folder.at('vitrine.yaml'), '--http', '0'], env);
      const url = `http://127.0.0.1:${serving.port}/mcp`;
      const client = await connectInTurn(() => [url], { ends: false });
      started.push({ serving, client });
      await until(() => client.holder !== undefined, 'the stream');
      await client.request('resources/subscribe', { uri });
    }

    async function changes(text: string): Promise<void> {
      const before = started.map(({ client }) => client.updates.get(uri) ?? 0);
      page.text = text;
      await Promise.all(started.map(({ client }, at) => client.told(uri, before[at] ?? 0)));
      for (const { client } of started)
        expect(await client.request('resources/read', { uri })).toMatchObject({ contents: [{ text }] });
    }

    try {
      for (const _name of NAMES) await start();
      await page.lookers(1);
      await changes('second');
      const [looker] = await page.lookers(1);
      const at = started.findIndex(({ serving }) => serving.pid === looker);
      const [killed] = started.splice(at, 1);
      const before = started.map(({ client }) => client.updates.get(uri) ?? 0);
      await killed?.serving.kill();
      page.text = 'while nobody looked';
      await Promise.all(started.map(({ client }, index) => client.told(uri, before[index] ?? 0)));
      await killed?.client[Symbol.asyncDispose]();
      const [next] = await page.lookers(1);
      expect(started.map(({ serving }) => serving.pid)).toContain(next);
      await changes('after it was killed');
      await start();
      await server.stop();
      expect([...(await page.lookers(3))].sort()).toEqual(started.map(({ serving }) => serving.pid).sort());
      // While the bus is away, each process polls the page and notifies its own sessions.
      await changes('without Redis');
      await server.start();
      await page.lookers(1);
      await changes('with Redis');
    } finally {
      await Promise.all(started.map(({ client }) => client[Symbol.asyncDispose]()));
      await Promise.all(started.map(({ serving }) => serving[Symbol.asyncDispose]()));
    }
  });
});
