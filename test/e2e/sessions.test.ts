/** Sessions of the 2025 era over HTTP: how they begin, what belongs to them, and how they end. */
import { appendFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from './folders.ts';
import { connectHttp, type Listening, MUSEUM, startHttp } from './harness.ts';
import { collectNotices } from './notices.ts';
import { http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from './raw.ts';
import { until } from './waiting.ts';

const VERSION = { 'mcp-protocol-version': '2025-11-25' };

/** Opens a session and returns its id. */
async function open({ url }: Listening): Promise<string> {
  const { status, headers } = await post(url, 'legacy', 'initialize', INITIALIZE);
  const id = headers['mcp-session-id'];
  if (status !== 200 || typeof id !== 'string') throw new Error(`no session, but ${status}`);
  return id;
}

const list = ({ url }: Listening, id: string): Promise<RawResponse> =>
  post(url, 'legacy', 'resources/list', {}, { ...VERSION, 'mcp-session-id': id });

const end = ({ url }: Listening, id: string): Promise<RawResponse> =>
  http(url, { method: 'DELETE', headers: { ...VERSION, 'mcp-session-id': id } });

/** A server with few, short sessions. */
async function tight(limits: object): Promise<{ server: Listening; dispose: () => Promise<void> }> {
  const folder = await temporaryFolder({ 'data/a.txt': 'a' });
  const server = await startHttp(['--config', await writeConfig(folder, { limits, mounts: { data: './data' } })]);
  const dispose = async (): Promise<void> => {
    await server.stop();
    await folder[Symbol.asyncDispose]();
  };
  return { server, dispose };
}

describe('sessions', () => {
  it('begin with initialize and last over requests', async () => {
    await using server = await startHttp([MUSEUM]);
    const [first, second] = [await open(server), await open(server)];
    expect(first).not.toBe(second);
    expect(first).toMatch(/^[\x21-\x7e]{16,}$/);
    for (const id of [first, second, first]) {
      expect(messageOf(await list(server, id)).result).toHaveProperty('resources');
    }
  });

  it('are needed for every other request, whose refusal says how to begin one', async () => {
    await using server = await startHttp([MUSEUM]);
    const response = await post(server.url, 'legacy', 'resources/list');
    expect(response.status).toBe(400);
    expect(messageOf(response).error?.message).toContain('initialize');
  });

  it('that are unknown get 404, for every request', async () => {
    await using server = await startHttp([MUSEUM]);
    const unknown = crypto.randomUUID();
    expect((await list(server, unknown)).status).toBe(404);
    expect((await end(server, unknown)).status).toBe(404);
    const headers = { ...VERSION, 'mcp-session-id': unknown, accept: 'text/event-stream' };
    const stream = await http(server.url, { method: 'GET', headers });
    expect(stream.status).toBe(404);
    expect(messageOf(stream).error?.message).toContain('initialize');
  });

  it('end with DELETE, and no other session does', async () => {
    await using server = await startHttp([MUSEUM]);
    const [first, second] = [await open(server), await open(server)];
    expect((await end(server, first)).status).toBe(200);
    expect((await list(server, first)).status).toBe(404);
    expect((await end(server, first)).status).toBe(404);
    expect((await list(server, second)).status).toBe(200);
  });

  it('are not opened if the handshake is refused', async () => {
    const { server, dispose } = await tight({ maxSessions: 1 });
    try {
      for (let attempt = 0; attempt < 3; attempt++) {
        const refused = await post(server.url, 'legacy', 'initialize', { protocolVersion: 7 });
        expect(refused.headers['mcp-session-id']).toBeUndefined();
      }
      const notAcceptable = await http(server.url, {
        headers: { 'content-type': 'application/json', accept: 'text/html' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }),
      });
      expect(notAcceptable.status).toBe(406);
      expect(await open(server)).toBeTypeOf('string');
    } finally {
      await dispose();
    }
  });

  it('are limited in number: a further one is told to try again later', async () => {
    const { server, dispose } = await tight({ maxSessions: 2 });
    try {
      const first = await open(server);
      await open(server);
      const third = await post(server.url, 'legacy', 'initialize', INITIALIZE);
      expect(third.status).toBe(503);
      expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
      await end(server, first);
      expect(await open(server)).toBeTypeOf('string');
      // The 2026 era has no sessions, so the limit does not affect it.
      expect((await post(server.url, 'modern', 'resources/list')).status).toBe(200);
    } finally {
      await dispose();
    }
  });

  it('end if they are not used, except while a stream is open', async () => {
    const { server, dispose } = await tight({ maxSessions: 2, sessionIdleSeconds: 1 });
    try {
      await using streaming = await connectHttp('legacy', server);
      await streaming.reachable;
      const idle = await open(server);
      // Both places are taken until the idle session has ended. A request in it would keep it alive.
      const next = await until(() => open(server).catch(() => false as const), 'an idle session to end');
      expect((await list(server, idle)).status).toBe(404);
      expect((await list(server, next)).status).toBe(200);
      await expect(streaming.request('resources/list')).resolves.toHaveProperty('resources');
    } finally {
      await dispose();
    }
  });

  it('end their subscriptions', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a', 'b.txt': 'b' });
    await using server = await startHttp([folder.path]);
    await using leaving = await connectHttp('legacy', server);
    await using staying = await connectHttp('legacy', server);
    const told = await collectNotices(leaving);
    const others = await collectNotices(staying);
    await leaving.client.subscribeResource({ uri: 'file:///a.txt' });
    await staying.client.subscribeResource({ uri: 'file:///b.txt' });
    await leaving.close();
    await appendFile(folder.at('a.txt'), '.');
    await appendFile(folder.at('b.txt'), '.');
    await others.told('file:///b.txt');
    expect(told.seen).toEqual([]);
  });

  it('refuse an unknown revision in the header', async () => {
    await using server = await startHttp([MUSEUM]);
    const id = await open(server);
    const headers = { ...JSON_HEADERS, 'mcp-session-id': id, 'mcp-protocol-version': '1999-01-01' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list' });
    expect((await http(server.url, { headers, body })).status).toBe(400);
  });
});
