/** Replicas that are killed while clients of both eras work: no session is lost, and no update. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { type Connected, connectHttp } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { connectInTurn, type InTurn } from './in-turn.ts';
import { type Serving, startProxy, startServing } from './processes.ts';

const ROUNDS = 7;
const NOTE = 'docs+file:///note.txt';
const ENTRIES = 30;

/** Asks again when a replica ended while it was at it, and in no other case. */
async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  return await until(async () => {
    try {
      return { value: await ask() };
    } catch (error) {
      if (/session not found|session has ended/i.test(String(error))) throw error;
      if (/fetch failed|terminated|502|socket|closed|cannot keep/i.test(`${error} ${(error as Error).cause}`))
        return undefined;
      throw error;
    }
  }, 'an answer').then(({ value }) => value);
}

/** Every page of a folder, each by another replica. */
async function namesThroughPages(client: Pick<Connected, 'request'>): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await persistently(() =>
      client.request<{ resources: readonly unknown[]; nextCursor?: string }>('resources/list', {
        uri: 'docs+file:///many',
        ...(cursor !== undefined && { cursor }),
      }),
    );
    count += page.resources.length;
    cursor = page.nextCursor;
  }
  return count;
}

async function work(
  folder: Folder,
  url: string,
  disturb: (round: number, client: InTurn) => Promise<void>,
): Promise<void> {
  await using old = await connectInTurn(() => [url]);
  await using other = await connectInTurn(() => [url]);
  await using modern = await connectHttp('modern', { url, output: () => '' });
  const clients = [old, other];
  for (const each of clients) await persistently(() => each.request('resources/subscribe', { uri: NOTE }));
  await until(() => clients.every(({ holder }) => holder !== undefined), 'the streams');
  for (let round = 0; round < ROUNDS; round++) {
    await disturb(round, old);
    const before = clients.map(({ updates }) => updates.get(NOTE) ?? 0);
    await folder.write('note.txt', `round ${round}`);
    await Promise.all(clients.map((each, at) => each.told(NOTE, before[at] ?? 0)));
    for (const each of [...clients, modern]) {
      const read = await persistently(() => each.request('resources/read', { uri: NOTE }));
      expect(read).toMatchObject({ contents: [{ text: `round ${round}` }] });
    }
    expect(await namesThroughPages(modern)).toBe(ENTRIES);
    expect(await namesThroughPages(other)).toBe(ENTRIES);
  }
}

const files = (): Record<string, string> =>
  Object.fromEntries([
    ['docs/note.txt', 'first'],
    ...Array.from({ length: ENTRIES }, (_, at) => [`docs/many/${at}`, '']),
  ]);

const inDocs = (folder: Folder): Folder => ({ ...folder, write: (path, text) => folder.write(`docs/${path}`, text) });

describeWith([redis])('three replicas over Redis', () => {
  it('lose no session and no update while one after the other is killed, and Redis forgets everything', async () => {
    await using server = await startRedis();
    await using folder = await temporaryFolder(files());
    await folder.write(
      'vitrine.yaml',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to the environment
      "mounts: { docs: ./docs }\nkeys: ['${KEYS}']\nbus: '${BUS}'\nlimits: { pageSize: 7 }\n",
    );
    const env = { KEYS: randomBytes(32).toString('base64'), BUS: server.url };
    const start = (port: number): Promise<Serving> =>
      startServing(['--config', folder.at('vitrine.yaml'), '--http', String(port)], env);
    const replicas = await Promise.all([start(0), start(0), start(0)]);
    const ports = replicas.map(({ port }) => port);
    try {
      await using proxy = await startProxy(ports);
      await work(inDocs(folder), proxy.url, async (round) => {
        if (round === 3) {
          await server.stop();
          await server.start();
        } else if (round % 2 === 1) {
          const at = ((round - 1) / 2) % 3;
          await replicas[at]?.kill();
          replicas[at] = await start(ports[at] ?? 0);
        }
      });
      expect(proxy.counts.every((count) => count > 10)).toBe(true);
      const errors = replicas.map((each) => each.errors()).join('');
      expect(errors).not.toContain(server.url);
      expect(errors).not.toContain(env.KEYS);
      for (const each of replicas) expect(await each.stop()).toBe(0);
    } finally {
      await Promise.all(replicas.map((each) => each[Symbol.asyncDispose]()));
    }
  });
});

describe('two workers', () => {
  it('do not begin where each would have programs of its own, and say so once', async () => {
    await using folder = await temporaryFolder({ 'vitrine.yaml': 'mounts: { up: { command: cat } }\n' });
    const refused = startServing(['--config', folder.at('vitrine.yaml'), '--http', '0', '--workers', '2']);
    await expect(refused).rejects.toThrow(
      /^a replica ended with 2 before it served: vitrine: Each worker would [^\n]+\n$/,
    );
  });

  it('lose no session and no update while they are killed, and all end with their parent', async () => {
    await using folder = await temporaryFolder({
      ...files(),
      'vitrine.yaml': 'mounts: { docs: ./docs }\nlimits: { pageSize: 7 }\n',
    });
    await using serving = await startServing(['--config', folder.at('vitrine.yaml'), '--http', '0', '--workers', '2']);
    const children = async (): Promise<readonly number[]> =>
      (await readFile(`/proc/${serving.pid}/task/${serving.pid}/children`, 'utf8'))
        .split(' ')
        .filter(Boolean)
        .map(Number);
    const both = (): Promise<readonly number[]> =>
      until(async () => {
        const pids = await children();
        return pids.length === 2 && pids;
      }, 'two workers');
    let killed = 0;
    await work(inDocs(folder), `http://127.0.0.1:${serving.port}/mcp`, async (round) => {
      if (round % 2 === 0) return;
      const pid = (await both())[killed++ % 2];
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    });
    const pids = await both();
    expect(serving.errors().match(/a worker has ended and is started again/g)).toHaveLength(killed);
    expect(await serving.stop()).toBe(0);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
  });
});
