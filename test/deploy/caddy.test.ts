/** Three replicas with the configuration of the composition, behind a real Caddy with its Caddyfile. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SdkHttpError } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { connectHttp } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { connectInTurn } from '../replicas/in-turn.ts';
import { type Serving, startVitrine } from '../replicas/processes.ts';
import { findProgram, freePort, startServer } from '../services/programs.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith, type Service } from '../services/service.ts';
import { serveNames } from './names.ts';
import { DEPLOY } from './tools.ts';

const ADDRESSES = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const NOTE = 'docs+file:///note.txt';
const TOKEN = randomBytes(16).toString('hex');
const CADDY = findProgram('caddy') ?? 'caddy';

const caddy: Service = {
  name: 'Caddy',
  missing: () => (findProgram('caddy') === undefined ? 'there is no caddy' : undefined),
};

/** The Caddyfile with ports of this machine, and with a name server that knows `vitrine`. */
async function startCaddy(folder: string, port: number, replicas: number, names: number): Promise<AsyncDisposable> {
  const { stdout } = await promisify(execFile)(CADDY, ['adapt', '--config', join(DEPLOY, 'Caddyfile')]);
  const adapted = stdout
    .replace('":8080"', `"127.0.0.1:${port}"`)
    .replace('"port":"8931"', `"port":"${replicas}","resolver":{"addresses":["udp/127.0.0.1:${names}"]}`)
    .replace(/^\{/, '{"admin":{"disabled":true},');
  const file = join(folder, 'caddy.json');
  await writeFile(file, adapted);
  const program = { program: CADDY, args: ['run', '--config', file] };
  const ready = 'serving initial configuration';
  const running = await startServer({ account: undefined, ...program, ready, end: 'SIGTERM' });
  return { [Symbol.asyncDispose]: () => running.stop() };
}

const metricsOf = async (address: string, port: number): Promise<string> => {
  const response = await fetch(`http://${address}:${port}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(response.status).toBe(200);
  return response.text();
};

/** Repeats a request after a 502: the Caddy of Debian sends a request with a body to no second replica if nobody listens at the first. */
const persistently = (read: () => Promise<string>): Promise<string> =>
  until(async () => {
    try {
      return await read();
    } catch (error) {
      if (error instanceof SdkHttpError && error.status === 502) return undefined;
      throw error;
    }
  }, 'an answer');

describeWith([redis, caddy])('three replicas behind Caddy', () => {
  it('answer in turn, continue when one is killed, and give their metrics to Prometheus only', async () => {
    await using server = await startRedis();
    await using docs = await temporaryFolder({ 'note.txt': 'one' });
    await using own = await temporaryFolder({});
    await using names = await serveNames('vitrine', ADDRESSES);
    const config = (await readFile(join(DEPLOY, 'vitrine.yaml'), 'utf8'))
      .replace(/^bus: .*$/m, `bus: ${server.url}`)
      .replace('/data/docs', docs.path);
    const file = join(own.path, 'vitrine.yaml');
    await writeFile(file, config);
    const env = { VITRINE_KEYS: randomBytes(32).toString('base64'), BUS_PASSWORD: 'unused', METRICS_TOKEN: TOKEN };
    const port = await freePort();
    const start = (address: string): Promise<Serving> =>
      startVitrine(['--config', file, '--http', `${address}:${port}`], env);
    await using _first = await start('127.0.0.1');
    await using second = await start('127.0.0.2');
    await using _third = await start('127.0.0.3');
    const at = await freePort();
    await using _proxy = await startCaddy(own.path, at, port, names.port);
    const url = `http://localhost:${at}/mcp`;

    await using modern = await connectHttp('modern', { url, output: () => '' });
    await using old = await connectInTurn(() => [url]);
    await old.request('resources/subscribe', { uri: NOTE });
    await until(() => old.holder !== undefined, 'the stream');
    const read = async (): Promise<string> => JSON.stringify(await modern.request('resources/read', { uri: NOTE }));
    for (const each of ADDRESSES) {
      await until(async () => {
        expect(await read()).toContain('one');
        return (await metricsOf(each, port)).includes('mcp_method_name="resources/read"');
      }, `${each} to be asked`);
    }
    expect((await fetch(`http://localhost:${at}/metrics`)).status).toBe(404);
    expect((await fetch(`http://localhost:${at}/readyz`)).status).toBe(200);

    await second.kill();
    for (let round = 0; round < 6; round++) expect(await persistently(read)).toContain('one');
    const before = old.updates.get(NOTE) ?? 0;
    await docs.write('note.txt', 'two');
    await old.told(NOTE, before);
    expect(await persistently(read)).toContain('two');
  });
});
