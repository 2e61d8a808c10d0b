/** The small client of the explorer with a real server, over real HTTP. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, headersOf } from '../../src/explorer/client/client.ts';
import { type Exchange, MAX_KEPT } from '../../src/explorer/client/exchange.ts';
import { Refusal } from '../../src/explorer/client/refusal.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';

const memory = memoryProvider({ resources: { 'äö.txt': { text: 'grüße' }, 'sealed.txt': { text: 'closed' } } });
const exchanges: Exchange[] = [];
let vitrine: Vitrine;
let serving: HttpServing;
let client: Client;
let agrees = true;

beforeAll(async () => {
  vitrine = createVitrine({ mounts: { memory }, confirm: ['memory+memory:///sealed.txt'] });
  serving = await serveHttp(vitrine, { port: 0 });
  client = createClient({
    endpoint: serving.url,
    ask: async () => (agrees ? { action: 'accept', content: { confirm: true } } : { action: 'decline' }),
    wire: (exchange) => exchanges.push(exchange),
  });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
});

const read = (uri: string) =>
  client.request<{ readonly contents: readonly { readonly text: string }[] }>('resources/read', { uri });

describe('the client', () => {
  it('reads, even URIs that no header can contain, and reports each exchange', async () => {
    const { contents } = await read('memory+memory:///%C3%A4%C3%B6.txt');
    expect(contents[0]?.text).toBe('grüße');
    const [began, ended] = exchanges.filter(({ method }) => method === 'resources/read');
    expect(began?.answer).toBeUndefined();
    expect(ended).toMatchObject({ id: began?.id, status: 200 });
    expect(ended?.answer).toContain('grüße');
    expect(headersOf('tools/call', { name: 'größe' })['Mcp-Name']).toBe('=?base64?Z3LDtsOfZQ==?=');
    expect(headersOf('tools/list', {})['Mcp-Name']).toBeUndefined();
  });

  it("gives the server's reason for a refusal, and `unavailable` if there is no server", async () => {
    await expect(read('memory+memory:///gone')).rejects.toMatchObject({ reason: 'not-found' });
    const nobody = createClient({ endpoint: 'http://127.0.0.1:1/mcp', ask: async () => ({}), wire() {} });
    const refused = await nobody.request('tools/list').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ reason: 'unavailable' });
  });

  it('asks a person a question of the server, and sends the request again with the answer', async () => {
    expect((await read('memory+memory:///sealed.txt')).contents[0]?.text).toBe('closed');
    agrees = false;
    await expect(read('memory+memory:///sealed.txt')).rejects.toBeInstanceOf(Refusal);
  });

  it('listens until it is told to stop', async () => {
    const abort = new AbortController();
    const uri = 'memory+memory:///%C3%A4%C3%B6.txt';
    const heard: string[] = [];
    const ended = client
      .listen(
        { resourceSubscriptions: [uri] },
        (method, params) => {
          heard.push(method);
          if (method.endsWith('acknowledged')) memory.set('äö.txt', { text: 'neu' });
          if (params.uri === uri) abort.abort();
        },
        abort.signal,
      )
      .catch((error: unknown) => error);
    await ended;
    expect(heard[0]).toBe('notifications/subscriptions/acknowledged');
    expect(heard.at(-1)).toBe('notifications/resources/updated');
  });
});

describe('the client with a server that sends very much', () => {
  const MIB = 1024 * 1024;

  /** Answers each request with `write`. `ended` resolves when the connection of the latest answer has ended. */
  async function serving(type: string, write: (response: ServerResponse) => void) {
    let ended: Promise<unknown> = Promise.resolve();
    const server = createServer((_request, response) => {
      ended = once(response, 'close');
      response.writeHead(200, { 'content-type': type });
      write(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const said: Exchange[] = [];
    const lean = createClient({
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
      ask: async () => ({}),
      wire: (exchange) => said.push(exchange),
    });
    return {
      lean,
      said,
      ended: () => ended,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
  }

  /** Writes chunks until the given number of bytes is written or the client has gone. */
  function pour(response: ServerResponse, chunk: string, bytes: number, end: string): void {
    let left = bytes;
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= chunk.length;
        if (!response.write(chunk)) {
          response.once('drain', more);
          return;
        }
      }
      response.end(end);
    };
    more();
  }

  const result = (text: string): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text } });
  const progress = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { more: 'x'.repeat(9_000) },
  });

  it.each([
    ['JSON', 'application/json', ' '.repeat(MIB), result('late')],
    ['events', 'text/event-stream', `data: ${progress}\n\n`, `data: ${result('late')}\n\n`],
    ['comments', 'text/event-stream', `: ${'x'.repeat(9_000)}\n\n`, `data: ${result('late')}\n\n`],
  ])('refuses too long an answer, as %s, and ends the connection', async (_, type, chunk, end) => {
    await using far = await serving(type, (response) => pour(response, chunk, 65 * MIB, end));
    await expect(far.lean.request('tools/list')).rejects.toMatchObject({ reason: 'too-large' });
    await far.ended();
    expect(far.said.at(-1)?.answer?.length).toBeLessThanOrEqual(MAX_KEPT);
    expect(far.said.at(-1)?.bytes).toBeGreaterThan(63 * MIB);
  });

  it.each([
    ['JSON', 'application/json', '', ''],
    ['events', 'text/event-stream', `data: ${progress}\n\ndata: `, '\n\n'],
  ])('accepts a long one, as %s, and keeps its beginning', async (_, type, before, behind) => {
    const text = 'ä'.repeat(4 * MIB);
    await using far = await serving(type, (response) => response.end(before + result(text) + behind));
    expect(await far.lean.request('tools/list')).toEqual({ text });
    expect(far.said.at(-1)?.answer).toHaveLength(MAX_KEPT);
    expect(far.said.at(-1)?.bytes).toBe(Buffer.byteLength(before + result(text) + behind));
  });

  it.each(['application/json', 'text/event-stream'])('can be aborted during %s', async (type) => {
    await using far = await serving(type, (response) => response.write('data: 1\n\n'));
    const abort = new AbortController();
    const left = far.lean.request('tools/list', {}, abort.signal);
    setTimeout(() => abort.abort(), 50);
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    await far.ended();
  });

  it('listens to a stream that is longer than an answer may be', async () => {
    let heard = 0;
    const chunk = `data: ${progress}\n\n`;
    await using far = await serving('text/event-stream', (response) => pour(response, chunk, 65 * MIB, ''));
    await far.lean.listen({}, () => heard++, new AbortController().signal);
    expect(heard).toBe(Math.ceil((65 * MIB) / chunk.length));
  });
});
