/** A request whose headers disagree with its body is refused before anything is done. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { wrapProvider } from '../../src/core/layer.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { ERAS } from '../e2e/harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from '../e2e/raw.ts';
import { within } from '../e2e/waiting.ts';

const ALLOWED = 'https://app.example';
const HEADER_MISMATCH = -32_020;

let vitrine: Vitrine;
let serving: HttpServing;
/** Counts the reads that reached the provider. */
let reads = 0;

beforeAll(async () => {
  const memory = memoryProvider({ name: 'm', resources: { 'a.txt': { text: 'a' }, 'b.txt': { text: 'b' } } });
  const provider = wrapProvider(memory, {
    read(uri, options, ctx) {
      reads++;
      return memory.read(uri, options, ctx);
    },
  });
  vitrine = createVitrine({ mounts: [{ name: 'memory', provider, prefix: 'none' }] });
  serving = await serveHttp(vitrine, { port: 0, allowedOrigins: [ALLOWED], allowedHosts: ['docs.example'] });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
});

beforeEach(() => {
  reads = 0;
});

const A = 'memory:///a.txt';
const B = 'memory:///b.txt';

/** Posts a read of `a.txt` with exactly these headers, of the 2026 era unless given otherwise. */
function read(headers: Readonly<Record<string, string | undefined>>, meta: object = ENVELOPE): Promise<RawResponse> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: A, _meta: meta } });
  const all = {
    ...JSON_HEADERS,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'resources/read',
    'mcp-name': A,
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return http(serving.url, { headers: given as Record<string, string>, body });
}

describe('headers of a 2026 request', () => {
  it('are accepted if they agree with the body', async () => {
    expect(messageOf(await read({})).result).toMatchObject({ contents: [{ text: 'a' }] });
    const encoded = `=?base64?${Buffer.from(A).toString('base64')}?=`;
    expect(messageOf(await read({ 'mcp-name': encoded })).result).toMatchObject({ contents: [{ text: 'a' }] });
    expect(reads).toBe(2);
  });

  it.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['another method', { 'mcp-method': 'resources/list' }],
    ['a method in another case', { 'mcp-method': 'Resources/Read' }],
    ['two methods', { 'mcp-method': 'resources/read, resources/list' }],
    ['no method', { 'mcp-method': undefined }],
    ['another name', { 'mcp-name': B }],
    ['another name, encoded', { 'mcp-name': `=?base64?${Buffer.from(B).toString('base64')}?=` }],
    ['a name that only begins alike', { 'mcp-name': `${A}x` }],
    ['two names', { 'mcp-name': `${A}, ${B}` }],
    ['no name', { 'mcp-name': undefined }],
    ['another revision', { 'mcp-protocol-version': '2025-11-25' }],
    ['a revision that nobody speaks', { 'mcp-protocol-version': '2099-01-01' }],
    ['no revision', { 'mcp-protocol-version': undefined }],
  ])('are refused with %s, and nothing is read', async (_what, headers) => {
    const answer = await read(headers);
    expect(answer.status).toBe(400);
    expect(messageOf(answer).error?.code).toBeLessThan(0);
    expect(reads).toBe(0);
  });

  it('that disagree get the error code of the specification', async () => {
    for (const headers of [{ 'mcp-method': 'resources/list' }, { 'mcp-name': B }])
      expect(messageOf(await read(headers)).error?.code).toBe(HEADER_MISMATCH);
  });

  it('do not let a body of the other era pass', async () => {
    const { status } = await read({}, {});
    expect(status).toBe(400);
    expect(reads).toBe(0);
  });

  it.each(['tools/call', 'prompts/get'])('have to name the target of %s, too', async (method) => {
    const params = { name: 'read', arguments: { uri: A } };
    const answer = await post(serving.url, 'modern', method, params, { 'mcp-name': 'list' });
    expect([answer.status, messageOf(answer).error?.code]).toEqual([400, HEADER_MISMATCH]);
    expect(reads).toBe(0);
  });
});

describe('headers of a 2025 session', () => {
  it('with an unknown revision are refused', async () => {
    const begun = await post(serving.url, 'legacy', 'initialize', INITIALIZE);
    const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    const version = { 'mcp-protocol-version': '1999-01-01' };
    const answer = await post(serving.url, 'legacy', 'resources/read', { uri: A }, { ...session, ...version });
    expect(answer.status).toBe(400);
    expect(reads).toBe(0);
  });
});

describe('a content type', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json ; version=1; charset=utf8',
  ])('of JSON passes: %s', async (type) => {
    expect((await read({ 'content-type': type })).status).toBe(200);
  });

  it.each([
    ['text/plain'],
    ['text/json'],
    ['application/jsonx'],
    ['application/json-patch+json'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=application/json'],
    ['text/plain; application/json'],
    ['application/json, text/plain'],
    [undefined],
    [''],
    ['application/json; charset=utf-16'],
    ['application/json; charset=iso-8859-1'],
    ['application/json; version=1; charset="latin1"'],
    ['application/json; charset=utf-7; charset=utf-8'],
  ])('of anything else is refused, in upper and lower case: %s', async (type) => {
    expect((await read({ 'content-type': type })).status).toBe(415);
    expect(reads).toBe(0);
  });

  it.each(['gzip', 'br', 'deflate', 'identity, gzip'])('with a content coding is refused: %s', async (coding) => {
    expect((await read({ 'content-encoding': coding })).status).toBe(415);
    expect((await read({ 'content-encoding': 'identity' })).status).toBe(200);
  });
});

describe.each(ERAS)('before anything runs, %s', (era) => {
  const begin = (headers: Record<string, string>): Promise<RawResponse> =>
    era === 'modern' ? read(headers) : post(serving.url, era, 'initialize', INITIALIZE, headers);

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', 'evil@localhost'])(
    'the Host has to be of this server: %s',
    async (host) => {
      // Node.js itself answers 400 to an invalid host.
      expect([400, 403]).toContain((await begin({ host })).status);
      expect((await begin({ host: 'docs.example' })).status).toBe(200);
    },
  );

  it.each(['https://evil.example', 'null', 'http://localhost.evil.example', 'http://app.example'])(
    'the Origin has to be allowed: %s',
    async (origin) => {
      expect((await begin({ origin })).status).toBe(403);
      expect((await begin({ origin: ALLOWED })).status).toBe(200);
    },
  );

  it('answers, even refusals, can be read by allowed pages only', async () => {
    const ours = await begin({ origin: ALLOWED });
    expect(ours.headers['access-control-allow-origin']).toBe(ALLOWED);
    expect(String(ours.headers.vary).toLowerCase()).toContain('origin');
    expect(String(ours.headers['access-control-expose-headers'])).toContain('Retry-After');
    expect(ours.headers['access-control-allow-credentials']).toBeUndefined();
    const local = await begin({ origin: 'http://localhost:3000' });
    expect([local.status, local.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    const evil = await begin({ origin: 'https://evil.example' });
    expect([evil.status, evil.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    const wrong = await begin({ origin: ALLOWED, 'content-type': 'text/plain' });
    expect([wrong.status, wrong.headers['access-control-allow-origin']]).toEqual([415, ALLOWED]);
  });
});

describe('bytes that two parsers could read differently', () => {
  /** The status line of the answer to these bytes; empty if the connection is closed without one. */
  async function answerTo(bytes: string): Promise<string> {
    const socket = connect(serving.port, '127.0.0.1');
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      socket.end();
    });
    const closed = once(socket, 'close');
    socket.write(bytes);
    await within(closed, 'the end of the connection');
    return text.split('\r\n', 1)[0] ?? '';
  }

  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const head = 'POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n';

  it.each([
    ['two hosts', `${head}Host: localhost\r\nHost: evil.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
    ['no host', `${head}Content-Length: ${body.length}\r\n\r\n${body}`],
    ['two lengths', `${head}Host: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n${body}`],
    [
      'a length and chunks',
      `${head}Host: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a length that is none', `${head}Host: localhost\r\nContent-Length: +5\r\n\r\n${body}`],
    ['an unknown coding', `${head}Host: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n${body}`],
    ['a header that is folded', `${head}Host: localhost\r\nX-A: 1\r\n Content-Length: 5\r\n\r\n${body}`],
    ['a space before the colon', `${head}Host : localhost\r\nContent-Length: 5\r\n\r\n${body}`],
  ])('are refused: %s', async (_what, bytes) => {
    expect(await answerTo(bytes)).toMatch(/^(HTTP\/1\.1 (400|403|408|415) .*|)$/);
    expect(reads).toBe(0);
  });
});
