/** Web pages of allowed origins can use the endpoint from a browser. Other pages can read no answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, MUSEUM, startHttp } from './harness.ts';
import { ENVELOPE, INITIALIZE, JSON_HEADERS } from './raw.ts';

const ALLOWED = 'https://app.example.com';
const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'mcp-method' },
});

describe('pages over HTTP', () => {
  let server: Listening;
  beforeAll(async () => {
    server = await startHttp([MUSEUM, '--allow-origin', ALLOWED]);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  it('of an allowed origin may send requests, and read the answers', async () => {
    const asked = await fetch(server.url, preflight(ALLOWED));
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Mcp-Method');
    const answered = await fetch(server.url, { headers: { Origin: ALLOWED } });
    expect(answered.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(answered.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
  });

  it('may repeat arguments in headers, and send only the allowed headers', async () => {
    const wanted = 'mcp-method, Mcp-Param-Region,mcp-param-x,  x-other, mcp-param-, mcp-param-a b, cookie';
    const { headers } = preflight(ALLOWED);
    const asked = await fetch(server.url, {
      method: 'OPTIONS',
      headers: { ...headers, 'Access-Control-Request-Headers': wanted },
    });
    const allowed = asked.headers.get('access-control-allow-headers')?.split(',') ?? [];
    expect(allowed.filter((name) => /^mcp-param/i.test(name))).toEqual(['Mcp-Param-Region', 'mcp-param-x']);
    expect(allowed).toContain('Mcp-Method');
    expect(allowed).not.toContain('x-other');
    expect(allowed).not.toContain('cookie');
  });

  it('of an allowed origin may read the streams of changes of both eras', async () => {
    const handshake = { jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE };
    const begun = await fetch(server.url, { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(handshake) });
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const listen = {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { resourcesListChanged: true }, _meta: ENVELOPE },
    };
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
    const streams: RequestInit[] = [
      { headers: { ...session, Accept: 'text/event-stream', Origin: ALLOWED } },
      { method: 'POST', headers: { ...JSON_HEADERS, ...modern, Origin: ALLOWED }, body: JSON.stringify(listen) },
    ];
    for (const stream of streams) {
      const ending = new AbortController();
      const { status, headers } = await fetch(server.url, { ...stream, signal: ending.signal });
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(headers.get('access-control-allow-origin')).toBe(ALLOWED);
      ending.abort();
    }
  });

  it.each(['https://evil.example.com', 'null', 'http://localhost:3000'])(
    'of %s may not send requests',
    async (origin) => {
      const asked = await fetch(server.url, preflight(origin));
      expect(asked.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it('that use another method get the list of methods', async () => {
    const answered = await fetch(server.url, { method: 'PUT' });
    expect(answered.status).toBe(405);
    expect(answered.headers.get('allow')).toBe('POST, GET, DELETE');
  });
});
