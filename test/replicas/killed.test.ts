/** Replicas are killed while clients of both eras work: no session and no update is lost. */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { vitrine } from '../cli/run.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { type Connected, connectHttp } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { connectInTurn, type InTurn } from './in-turn.ts';
import { type Serving, startProxy, startVitrine } from './processes.ts';
import { startPythons } from './python.ts';
import { hasSocket } from './sockets.ts';

const ROUNDS = 7;
const NOTE = 'docs+file:///note.txt';
const ENTRIES = 30;

/** Repeats a request if its replica ended during the request, and in no other case. */
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

/**
 * Counts the entries of a folder on all its pages. The proxy asks another replica for each page; of two workers, either may
 * answer.
 */
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
  await using pythons = await startPythons(url, NOTE);
  for (const each of clients) await persistently(() => each.request('resources/subscribe', { uri: NOTE }));
  await until(() => clients.every(({ holder }) => holder !== undefined), 'the streams');
  for (let round = 0; round < ROUNDS; round++) {
    await disturb(round, old);
    const before = clients.map(({ updates }) => updates.get(NOTE) ?? 0);
    await folder.write('note.txt', `round ${round}`);
    await Promise.all(clients.map((each, at) => each.told(NOTE, before[at] ?? 0)));
    for (const entries of await pythons.read(`round ${round}`)) expect(entries).toBeGreaterThan(ENTRIES);
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

/** Verifies the audit: each process has its own chain, which the process that takes its place continues. */
async function expectWholeAudit(folder: Folder, count: number): Promise<void> {
  const files = (await readdir(folder.path)).filter((name) => /^audit\.\d\.jsonl$/.test(name));
  expect(files).toHaveLength(count);
  const { status, stderr } = await vitrine(['audit', 'verify', '--each', ...files], folder.path);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

describeWith([redis])('three replicas over Redis', () => {
  it('lose no session and no update while each is killed in turn, and Redis is restarted without its data', async () => {
    await using server = await startRedis();
    await using folder = await temporaryFolder(files());
    const names = [1, 2, 3];
    for (const name of names) {
      await folder.write(
        `vitrine.${name}.yaml`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to the environment
        "mounts: { docs: ./docs }\nkeys: ['${KEYS}']\nbus: '${BUS}'\nlimits: { pageSize: 7 }\naudit: ".concat(
          `{ file: ./audit.${name}.jsonl }\n`,
        ),
      );
    }
    const env = { KEYS: randomBytes(32).toString('base64'), BUS: server.url };
    const start = (name: number, port = 0): Promise<Serving> =>
      startVitrine(['--config', folder.at(`vitrine.${name}.yaml`), '--http', String(port)], env);
    const replicas = await Promise.all(names.map((name) => start(name)));
    const ports = replicas.map(({ port }) => port);
    let killed = 0;
    try {
      await using proxy = await startProxy(ports);
      await work(inDocs(folder), proxy.url, async (round) => {
        if (round === 4) {
          await server.stop();
          await server.start();
        } else if (round % 2 === 1) {
          const at = killed++ % names.length;
          await replicas[at]?.kill();
          replicas[at] = await start(at + 1, ports[at]);
        }
      });
      expect(killed).toBe(names.length);
      expect(proxy.counts.every((count) => count > 10)).toBe(true);
      const errors = replicas.map((each) => each.errors()).join('');
      expect(errors).not.toContain(server.url);
      expect(errors).not.toContain(env.KEYS);
      for (const each of replicas) expect(await each.stop()).toBe(0);
      await expectWholeAudit(folder, names.length);
    } finally {
      await Promise.all(replicas.map((each) => each[Symbol.asyncDispose]()));
    }
  });
});

describe('two workers', () => {
  it('do not start if each of them would run mounted programs of its own, and say so once', async () => {
    await using folder = await temporaryFolder({ 'vitrine.yaml': 'mounts: { up: { command: cat } }\n' });
    const refused = startVitrine(['--config', folder.at('vitrine.yaml'), '--http', '0', '--workers', '2']);
    await expect(refused).rejects.toThrow(
      /^a replica ended with 2 before it served: vitrine: Each worker would [^\n]+\n$/,
    );
  });

  it('lose no session and no update while they are killed, and all end with their parent', async () => {
    await using folder = await temporaryFolder({
      ...files(),
      'vitrine.yaml': 'mounts: { docs: ./docs }\nlimits: { pageSize: 7 }\naudit: { file: ./audit.jsonl }\n',
    });
    await using serving = await startVitrine(['--config', folder.at('vitrine.yaml'), '--http', '0', '--workers', '2']);
    const children = async (): Promise<readonly number[]> =>
      (await readFile(`/proc/${serving.pid}/task/${serving.pid}/children`, 'utf8'))
        .split(' ')
        .filter(Boolean)
        .map(Number);
    // A worker is killed only while both serve, because the Python SDK tries only twice to open its stream.
    const both = (): Promise<readonly number[]> =>
      until(async () => {
        const pids = await children();
        const serve = await Promise.all(
          pids.map((pid) => hasSocket(pid, serving.port, 'listening').catch(() => false)),
        );
        return pids.length === 2 && serve.every(Boolean) && pids;
      }, 'two workers that serve');
    let killed = 0;
    await work(inDocs(folder), `http://127.0.0.1:${serving.port}/mcp`, async (round) => {
      if (round % 2 === 0) return;
      const pid = (await both())[killed++ % 2];
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    });
    const pids = await both();
    expect(serving.errors().match(/a worker has ended and is started again/g)).toHaveLength(killed);
    expect(await serving.stop()).toBe(0);
    await expectWholeAudit(folder, 2);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
  });
});
