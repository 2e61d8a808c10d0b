/** The lean client in front of a real server, over real HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, headersOf } from '../../src/explorer/client/client.ts';
import type { Exchange } from '../../src/explorer/client/exchange.ts';
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
  it('reads, also what no header could hold as it is, and tells of each exchange', async () => {
    const { contents } = await read('memory+memory:///%C3%A4%C3%B6.txt');
    expect(contents[0]?.text).toBe('grüße');
    const [began, ended] = exchanges.filter(({ method }) => method === 'resources/read');
    expect(began?.answer).toBeUndefined();
    expect(ended).toMatchObject({ id: began?.id, status: 200 });
    expect(ended?.answer).toContain('grüße');
    expect(headersOf('tools/call', { name: 'größe' })['Mcp-Name']).toBe('=?base64?Z3LDtsOfZQ==?=');
    expect(headersOf('tools/list', {})['Mcp-Name']).toBeUndefined();
  });

  it('says why it was refused, by the reason of the server', async () => {
    await expect(read('memory+memory:///gone')).rejects.toMatchObject({ reason: 'not-found' });
    const nobody = createClient({ endpoint: 'http://127.0.0.1:1/mcp', ask: async () => ({}), wire() {} });
    const refused = await nobody.request('tools/list').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect(refused).toMatchObject({ reason: 'unavailable' });
  });

  it('asks a person in between, and sends the request again with the answer', async () => {
    expect((await read('memory+memory:///sealed.txt')).contents[0]?.text).toBe('closed');
    agrees = false;
    await expect(read('memory+memory:///sealed.txt')).rejects.toBeInstanceOf(Refusal);
  });

  it('listens until it is told not to', async () => {
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
