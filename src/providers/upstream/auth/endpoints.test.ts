import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpointFetch } from './endpoints.ts';

let server: Server;
let origin: string;
let asked: string[];

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    const url = request.url ?? '';
    asked.push(`${request.method} ${url}`);
    const hops = /^\/hops\/(\d+)$/.exec(url)?.[1];
    if (hops !== undefined && hops !== '0') response.writeHead(302, { location: `/hops/${Number(hops) - 1}` });
    if (url === '/away') response.writeHead(302, { location: 'http://10.255.255.1/secret' });
    response.end('{"ok":true}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
});

describe('requests to an authorization server', () => {
  it('are refused to this machine, and over plain http, if the upstream is on another machine', async () => {
    const asking = endpointFetch('https://mcp.example/mcp')(`${origin}/x`);
    await expect(asking).rejects.toBeInstanceOf(TypeError);
    expect(asked).toEqual([]);
  });

  it('may go to this machine if the upstream is on it', async () => {
    expect(await (await endpointFetch('http://localhost:1/mcp')(`${origin}/x`)).json()).toEqual({ ok: true });
  });

  it('follow a few redirects, to safe places only, and never repeat a POST', async () => {
    const fetchFn = endpointFetch(`${origin}/mcp`);
    expect((await fetchFn(`${origin}/hops/3`)).ok).toBe(true);
    await expect(fetchFn(`${origin}/hops/4`)).rejects.toBeInstanceOf(TypeError);
    await expect(fetchFn(`${origin}/away`)).rejects.toMatchObject({
      cause: { message: 'An authorization server is not at an https: URL' },
    });
    asked = [];
    await expect(fetchFn(`${origin}/hops/1`, { method: 'POST', body: 'x' })).rejects.toBeInstanceOf(TypeError);
    expect(asked).toEqual(['POST /hops/1']);
  });

  it('end with the signal of their caller', async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(endpointFetch(origin, controller.signal)(`${origin}/x`)).rejects.toBeInstanceOf(TypeError);
    expect(asked).toEqual([]);
  });
});
