/** The end of the server, whatever the state of the collector. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { vitrine } from '../cli/here.ts';
import { read } from '../e2e/answers.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { connectHttp, startHttp } from '../e2e/harness.ts';
import { startCollector } from './collector.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a server with unsent spans ends', () => {
  it.concurrent.each(['refuses connections', 'never answers'])('if the collector %s', async (how) => {
    await using collector = await startCollector({ answers: false });
    const origin = how === 'never answers' ? collector.origin : `http://127.0.0.1:${await freePort()}`;
    await using folder = await temporaryFolder({ 'docs/a.txt': 'x' });
    const telemetry = {
      traces: { endpoint: `${origin}/v1/traces` },
      metrics: { endpoint: `${origin}/v1/metrics` },
    };
    const config = await writeConfig(folder, { mounts: { docs: './docs' }, telemetry });
    await using server = await startHttp([config]);
    await using client = await connectHttp('modern', server);
    await read(client, 'docs+file:///a.txt');
    await client.close();
    expect(await server.stop()).toBe(0);
    if (how === 'never answers') expect(collector.bodies).not.toEqual([]);
  });
});

it('`vitrine check` refuses a configuration that lets nobody see the metrics', async () => {
  await using folder = await temporaryFolder({ 'docs/a.txt': 'x' });
  const config = await writeConfig(folder, {
    mounts: { docs: './docs' },
    auth: { resource: 'https://files.example/mcp', tokens: [{ name: 'somebody', hash: 'a'.repeat(64) }] },
    access: { rules: [{ effect: 'allow', who: 'authenticated' }] },
    telemetry: { metrics: { prometheus: 'on' } },
  });
  const { status, stderr } = await vitrine(['check', config]);
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/prometheus.*token of its own/s);
});
