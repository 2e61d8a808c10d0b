/** Pages of origins that were allowed can use the endpoint from a browser; no others can read an answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, MUSEUM, startHttp } from './harness.ts';

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

  it('of an allowed origin may ask, and read the answer', async () => {
    const asked = await fetch(server.url, preflight(ALLOWED));
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Mcp-Method');
    const answered = await fetch(server.url, { headers: { Origin: ALLOWED } });
    expect(answered.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(answered.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
  });

  it('may repeat arguments in headers, and send no others than those', async () => {
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

  it.each(['https://evil.example.com', 'null', 'http://localhost:3000'])('of %s may not', async (origin) => {
    const asked = await fetch(server.url, preflight(origin));
    expect(asked.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('that use another method are told which there are', async () => {
    const answered = await fetch(server.url, { method: 'PUT' });
    expect(answered.status).toBe(405);
    expect(answered.headers.get('allow')).toBe('POST, GET, DELETE');
  });
});
