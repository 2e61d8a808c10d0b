/** The end of a server: everything open ends in order, and nothing is left. */

import { once } from 'node:events';
import { appendFile, readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { createConnection, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { failure } from './answers.ts';
import { type Folder, temporaryFolder, writeConfig } from './folders.ts';
import { connectHttp, ERAS, MATRIX } from './harness.ts';
import { collectNotices, subscribe } from './notices.ts';
import { isRunning } from './process-io.ts';
import { startProgram } from './programs.ts';
import { ENVELOPE, INITIALIZE, startStdio } from './raw.ts';
import { until, within } from './waiting.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

const aFolder = (): Promise<Folder> => temporaryFolder({ 'a.txt': 'a', 'deep/b.txt': 'b' });

describe.each(SIGNALS)('on %s, a server over HTTP', (signal) => {
  it('ends with status 0 while streams, sessions and connections are open, and frees its port [RES-7]', async () => {
    await using folder = await aFolder();
    await using server = await startProgram([folder.path]);
    const port = Number(new URL(server.url).port);
    const agent = new Agent({ keepAlive: true });
    const legacy = await connectHttp('legacy', server);
    const modern = await connectHttp('modern', server);
    const notices = await collectNotices(legacy);
    await subscribe(legacy, ['file:///a.txt']);
    await appendFile(folder.at('a.txt'), '.');
    await notices.told('file:///a.txt');
    const streams = await Promise.all([
      modern.client.listen({ resourceSubscriptions: ['file:///a.txt'], resourcesListChanged: true }),
      modern.client.listen({ resourceSubscriptions: ['file:///deep'] }),
    ]);
    await idleConnection(agent, port);
    const unused = createConnection(port, '127.0.0.1').on('error', () => {});
    await once(unused, 'connect');

    expect(await server.stop(signal)).toBe(0);
    // The 2026 era has a message for the intended end of a stream.
    for (const stream of streams) expect(await within(stream.closed, 'the end of a stream')).toBe('graceful');
    expect(isRunning(server.process.pid ?? 0)).toBe(false);
    await expectFree(port);
    agent.destroy();
    unused.destroy();
    await Promise.all([legacy.close(), modern.close()]);
  });

  it('writes nothing to standard error [RES-7]', async () => {
    await using folder = await aFolder();
    await using server = await startProgram([folder.path]);
    await using legacy = await connectHttp('legacy', server);
    await legacy.reachable;
    let stderr = '';
    server.process.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    expect(await server.stop(signal)).toBe(0);
    expect(stderr).toBe('');
  });
});

describe.each(SIGNALS)('on %s, a server over stdio', (signal) => {
  it.each(ERAS)('ends with status 0 while subscriptions are open, %s [RES-7]', async (era) => {
    await using folder = await aFolder();
    await using server = startStdio(era, [folder.path]);
    if (era === 'legacy') {
      await server.request(1, 'initialize', INITIALIZE);
      server.notify('notifications/initialized');
      await server.request(2, 'resources/subscribe', { uri: 'file:///a.txt' });
      server.kill(signal);
    } else {
      const { result } = await server.request(1, 'server/discover');
      expect(result).toHaveProperty('capabilities');
      listen(server.write, 2, 'file:///a.txt');
      await server.line(isAcknowledgement, 'the acknowledgement');
      server.kill(signal);
      const end = await server.line((message) => 'id' in message && message.id === 2, 'the end of the stream');
      expect(end).toHaveProperty('result');
    }
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.stderr()).toBe('');
  });
});

/** Writes a configuration that mounts a server whose tool never answers. Returns its path. */
const slowConfig = (folder: Folder): Promise<string> =>
  writeConfig(folder, { mounts: { slow: { command: process.execPath, args: [folder.at('slow.mjs')] } } });

describe.each(MATRIX)('at its end, a server over $transport', ({ transport, era }) => {
  it('answers running calls with an error that says that the server ends and that they may have been carried out', async () => {
    await using folder = await temporaryFolder({ 'slow.mjs': SLOW_SERVER });
    const args = ['--config', await slowConfig(folder)];
    const call = { name: 'slow_wait', arguments: {} };
    const expected = { error: { code: -32_603, data: { reason: 'unavailable' } } };
    const called = () =>
      until(() => readFile(folder.at('called'), 'utf8').catch(() => undefined), 'the call to arrive');
    if (transport === 'stdio') {
      await using server = startStdio(era, args);
      if (era === 'legacy') {
        await server.request(1, 'initialize', INITIALIZE);
        server.notify('notifications/initialized');
      }
      const answer = server.request(2, 'tools/call', call);
      await called();
      server.kill('SIGTERM');
      const { error } = await answer;
      expect({ error }).toMatchObject(expected);
      expect(error).not.toHaveProperty('data.retryable');
      expect(error?.message).toBe('The server is shutting down; what was asked for may have been done all the same');
      expect(await server.exited).toEqual({ code: 0, signal: null });
      return;
    }
    await using server = await startProgram(args);
    const client = await connectHttp(era, server);
    const answer = failure(client.request('tools/call', call));
    await called();
    expect(await server.stop('SIGTERM')).toBe(0);
    const error = await within(answer, 'the answer');
    expect({ error }).toMatchObject(expected);
    expect(error.data).not.toHaveProperty('retryable');
    await client.close();
  });
});

describe('when the host closes standard input, a server over stdio', () => {
  it.each(ERAS)('ends everything that was open, and exits with status 0, %s [RES-7]', async (era) => {
    await using folder = await aFolder();
    await using server = startStdio(era, [folder.path]);
    if (era === 'legacy') {
      await server.request(1, 'initialize', INITIALIZE);
      server.notify('notifications/initialized');
      await server.request(2, 'resources/subscribe', { uri: 'file:///a.txt' });
    } else {
      await server.request(1, 'resources/list');
      listen(server.write, 2, 'file:///a.txt');
      await server.line(isAcknowledgement, 'the acknowledgement');
    }
    server.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(isRunning(server.pid)).toBe(false);
  });

  it('ends even if no message was sent [RES-7]', async () => {
    await using folder = await aFolder();
    await using server = startStdio('legacy', [folder.path]);
    server.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(server.lines).toEqual([]);
  });
});

function listen(write: (text: string) => void, id: number, uri: string): void {
  const params = { notifications: { resourceSubscriptions: [uri] }, _meta: ENVELOPE };
  write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params })}\n`);
}

/** A server of 2025 whose only tool reports that it was called, and never answers. */
const SLOW_SERVER = `
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize')
    say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } });
  else if (method === 'tools/list') say(id, { tools: [{ name: 'wait', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call') writeFileSync(new URL('called', import.meta.url), '1');
  else if (id !== undefined)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
});
`;

const isAcknowledgement = (message: object): boolean =>
  'method' in message && message.method === 'notifications/subscriptions/acknowledged';

/** Sends one request, and leaves its connection open after the answer. */
async function idleConnection(agent: Agent, port: number): Promise<void> {
  const [response] = await once(get({ port, path: '/healthz', agent }), 'response');
  response.resume();
  await once(response, 'end');
}

async function expectFree(port: number): Promise<void> {
  const taken = createServer();
  await until(async () => {
    taken.listen(port, '127.0.0.1');
    const [event] = await Promise.race([
      once(taken, 'listening').then(() => [true]),
      once(taken, 'error').then(() => [false]),
    ]);
    return event;
  }, `port ${port} to be free`);
  taken.close();
}

describe.each(ERAS)('on SIGHUP, a server over HTTP with a client of the %s era', (era) => {
  it('reads its configuration again, and still answers the client [RES-4]', async () => {
    await using folder = await temporaryFolder({ 'docs/a.txt': 'a' });
    const config = await writeConfig(folder, { mounts: { docs: './docs' } });
    await using server = await startProgram(['--config', config, '--log-level', 'info']);
    await using client = await connectHttp(era, server);
    server.process.kill('SIGHUP');
    await until(() => server.output().includes('a changed configuration is served'), 'the configuration');
    const uri = 'docs+file:///a.txt';
    expect(await client.request('resources/read', { uri })).toMatchObject({ contents: [{ text: 'a' }] });
    expect(await server.stop()).toBe(0);
  });
});
