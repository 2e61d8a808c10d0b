/** The HTTP endpoint: what it accepts and refuses, and its errors. */
import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from './folders.ts';
import { ERAS, type Listening, MUSEUM, MUSEUM_CONFIG, startHttp } from './harness.ts';
import { http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from './raw.ts';
import { within } from './waiting.ts';

const hello = (url: string, headers: Record<string, string> = {}): Promise<RawResponse> =>
  post(url, 'legacy', 'initialize', INITIALIZE, headers);

describe('the HTTP endpoint', () => {
  let museum: Listening;
  let url: string;
  beforeAll(async () => {
    museum = await startHttp([
      '--config',
      MUSEUM_CONFIG,
      '--allow-host',
      'museum.example',
      '--allow-origin',
      'https://app.example',
    ]);
    url = museum.url;
  });
  afterAll(() => museum.stop());

  it('listens on loopback, at /mcp, and prints the configuration for a host', () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect(museum.output()).toContain('serves "museum"');
    expect(museum.output()).toContain(`add claude-code --url ${url}`);
  });

  it('answers GET /healthz', async () => {
    const { status, text } = await http(new URL('/healthz', url).href, { method: 'GET' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ status: 'ok' });
  });

  it('serves nothing at other paths', async () => {
    for (const path of ['/views', '/mcp/x', '/README.md', '/../etc/passwd'])
      expect((await http(new URL(path, url).href, { method: 'GET' })).status).toBe(404);
  });

  it('answers requests of both eras', async () => {
    expect(messageOf(await hello(url)).result).toMatchObject({ protocolVersion: '2025-11-25' });
    expect(messageOf(await post(url, 'modern', 'server/discover')).result).toMatchObject({
      supportedVersions: ['2026-07-28'],
    });
  });

  it.each(ERAS)('refuses a body that is not JSON with 400, %s', async (era) => {
    const headers = era === 'modern' ? { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28' } : JSON_HEADERS;
    for (const body of ['{', 'hello', '', '{"jsonrpc":"2.0",}']) {
      const response = await http(url, { headers, body });
      expect(response.status).toBe(400);
      expect(messageOf(response).error).toMatchObject({ code: -32700 });
    }
  });

  it.each([
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json-patch',
  ])('refuses the content type %s with 415', async (type) => {
    const { accept } = JSON_HEADERS;
    const headers = type === undefined ? { accept } : { accept, 'content-type': type };
    expect((await http(url, { headers, body: '{}' })).status).toBe(415);
  });

  it('accepts the content type with parameters, in upper and lower case', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON'])
      expect((await hello(url, { 'content-type': type })).status).toBe(200);
  });

  it('refuses a body over the limit with 413, in one piece or several [SEC-RES-3]', async () => {
    // Only the last piece goes over the limit. A client that is refused earlier may not receive the answer.
    const body = [...Array.from({ length: 64 }, () => 'x'.repeat(65_536)), 'x'];
    const response = await http(url, { headers: JSON_HEADERS, body });
    expect(response.status).toBe(413);
    expect(messageOf(response).error?.message).toContain('4194304');
  });

  it('refuses a request by its declared length, before the body is sent [SEC-RES-3]', async () => {
    const { hostname, port } = new URL(url);
    const socket = createConnection(Number(port), hostname);
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text.includes('\r\n')) resolve(text);
      });
    });
    const head = `POST /mcp HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Content-Length: 999999999\r\n\r\n{`);
    expect(await within(answer, 'the refusal')).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it.each([
    'evil.example',
    'evil.example:8931',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'museum.example.evil',
  ])('refuses the Host %s with 403, as a rebound name would send it', async (host) => {
    for (const era of ERAS) expect((await post(url, era, 'server/discover', {}, { host })).status).toBe(403);
    expect((await http(url, { method: 'GET', headers: { host } })).status).toBe(403);
    expect((await http(url, { method: 'DELETE', headers: { host } })).status).toBe(403);
  });

  it.each([
    'localhost',
    'LOCALHOST:8931',
    '127.0.0.1',
    '[::1]:8931',
    '192.168.1.7:80',
    'museum.example',
    'Museum.Example:443',
  ])('accepts the Host %s', async (host) => {
    expect((await hello(url, { host })).status).toBe(200);
    expect((await post(url, 'modern', 'server/discover', {}, { host })).status).toBe(200);
  });

  it.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'https://app.example.evil',
    'http://app.example',
    'file://',
  ])('refuses pages of the Origin %s with 403', async (origin) => {
    for (const era of ERAS) expect((await post(url, era, 'server/discover', {}, { origin })).status).toBe(403);
  });

  it.each(['http://localhost:6274', 'http://127.0.0.1', 'https://app.example'])(
    'accepts pages of the Origin %s',
    async (origin) => {
      expect((await hello(url, { origin })).status).toBe(200);
      expect((await post(url, 'modern', 'server/discover', {}, { origin })).status).toBe(200);
    },
  );

  it('names the option that would allow a refused request, and nothing about the served data', async () => {
    const host = messageOf(await hello(url, { host: 'evil.example' }));
    expect(host.error?.message).toContain('--allow-host');
    expect(messageOf(await hello(url, { origin: 'https://evil.example' })).error?.message).toContain('--allow-origin');
    expect(JSON.stringify(host)).not.toMatch(/museum/i);
  });

  it('answers invalid JSON-RPC with an error, and goes on', async () => {
    for (const body of [
      'null',
      '[]',
      '7',
      '"x"',
      '{}',
      '{"jsonrpc":"2.0"}',
      '[[]]',
      '{"jsonrpc":"2.0","method":7,"id":1}',
    ]) {
      const { status } = await http(url, { headers: JSON_HEADERS, body });
      expect(status, body).toBeGreaterThanOrEqual(400);
      expect(status, body).toBeLessThan(500);
    }
    expect((await hello(url)).status).toBe(200);
  });
});

describe('limits of the HTTP endpoint', () => {
  it('can be configured [SEC-RES-3]', async () => {
    await using folder = await temporaryFolder({ 'data/a.txt': 'a' });
    const config = await writeConfig(folder, {
      limits: { maxRequestBytes: 1_000 },
      mounts: { data: './data' },
    });
    await using server = await startHttp(['--config', config]);
    expect((await hello(server.url)).status).toBe(200);
    const large = await post(server.url, 'modern', 'resources/read', { uri: `data+file:///${'x'.repeat(1_000)}` });
    expect(large.status).toBe(413);
  });
});

describe('an endpoint for other machines', () => {
  it('needs --allow-remote, and still checks the Host', async () => {
    await using server = await startHttp([MUSEUM, '--allow-remote'], '0.0.0.0:0');
    const local = `http://127.0.0.1:${new URL(server.url).port}/mcp`;
    expect((await hello(local)).status).toBe(200);
    expect((await hello(local, { host: 'evil.example' })).status).toBe(403);
  });
});
