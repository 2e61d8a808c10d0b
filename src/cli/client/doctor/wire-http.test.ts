import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openHttp } from './wire-http.ts';

const UNREACHED = { url: new URL('http://127.0.0.1:9/mcp') };

it.each(['legacy', 'modern'] as const)('without a token, %s answers say why, and nothing rejects', async (era) => {
  const authProvider = { token: () => Promise.reject(new Error('The sign-in expired')) };
  const wire = openHttp({ ...UNREACHED, authProvider }, era, 1_000);
  const none = { kind: 'none', why: expect.stringContaining('The sign-in expired') };
  expect(await wire.ask('tools/list')).toEqual(none);
  expect(await wire.listen({})).toEqual(none);
  await wire.notify('notifications/initialized');
  await wire.close();
});

it('with a token that no header can hold, answers say why, too', async () => {
  const authProvider = { token: async () => 'two\nlines' };
  const answer = await openHttp({ ...UNREACHED, authProvider }, 'modern', 1_000).ask('tools/list');
  expect(answer).toEqual({ kind: 'none', why: expect.stringMatching(/header/i) });
  expect(JSON.stringify(answer)).not.toContain('two');
});

it('rejects nothing if the token has gone when the server asks something', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const message of [
      { jsonrpc: '2.0', id: 7, method: 'ping' },
      { jsonrpc: '2.0', id: 1, result: { tools: [] } },
    ])
      response.write(`data: ${JSON.stringify(message)}\n\n`);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => {
    unhandled.push(error);
  };
  process.on('unhandledRejection', note);
  try {
    const tokens = ['first'];
    const authProvider = { token: async () => tokens.pop() ?? Promise.reject(new Error('The sign-in expired')) };
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
    expect(await openHttp({ url, authProvider }, 'legacy', 5_000).ask('tools/list')).toEqual({
      kind: 'result',
      result: { tools: [] },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    await new Promise((resolve) => server.close(resolve));
  }
});

it('keeps only the beginning of a long answer', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(100_000) } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const wire = openHttp({ url: new URL(`http://127.0.0.1:${port}/mcp`) }, 'modern', 20_000);
    expect(await wire.ask('resources/read')).toEqual({ kind: 'result', result: { text: 'x'.repeat(100_000) } });
    expect(wire.replies.map(({ of, reply }) => [of, reply.status, reply.text.length])).toEqual([
      ['resources/read', 200, 1_000],
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
