/**
 * Runs three processes of `server.ts` that share a real Redis, behind a proxy that forwards requests to them in turn. Prints the
 * endpoint of the proxy. `npm run conformance:replicas` runs the official suite against it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProxy, startServing } from '../replicas/processes.ts';
import { startRedis } from '../services/redis.ts';

const REPLICAS = 3;
const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));

const redis = await startRedis();
const folder = await mkdtemp(join(tmpdir(), 'vitrine-replicas-'));
const LIST = join(folder, 'prompts');
await writeFile(LIST, '');
const env = { BUS: redis.url, KEYS: randomBytes(32).toString('base64'), LIST };
const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => startServing([SERVER], env)));
const proxy = await startProxy(replicas.map(({ port }) => port));
process.stdout.write(`${proxy.url}\n`);

async function stop(): Promise<void> {
  for (const { errors } of replicas) process.stderr.write(errors());
  await proxy[Symbol.asyncDispose]();
  await Promise.all(replicas.map((replica) => replica.stop()));
  await redis[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
}
process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
