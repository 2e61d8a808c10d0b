/** Requests that a correct client does not send: each is answered, and harms no other. */
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVitrine, defineTool, type HttpServing, serveHttp, serveStdio, type Vitrine } from '../../src/index.ts';
import { type Engine, startEngine } from '../security/engine.ts';
import { ERAS } from './harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from './raw.ts';
import { until, within } from './waiting.ts';

const NAMES = Array.from({ length: 40 }, (_, index) => `${index}.md`);

interface Spoken extends AsyncDisposable {
  say(...lines: readonly (string | object)[]): void;
  answer(id: number): Promise<Record<string, unknown>>;
}

/** The engine over pipes in this process. */
function overStdio(vitrine: Vitrine): Spoken {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const serving = serveStdio(vitrine, { input, output });
  const messages = (): readonly Record<string, unknown>[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    say: (...lines) => {
      for (const line of lines)
        input.write(typeof line === 'string' ? line : `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`);
    },
    async answer(id) {
      const find = () => messages().find((message) => message.id === id);
      await until(() => find() !== undefined, `the answer to ${id}`);
      return find() ?? {};
    },
    async [Symbol.asyncDispose]() {
      await serving.close();
    },
  };
}

const begin = (era: (typeof ERAS)[number]): readonly object[] =>
  era === 'modern'
    ? []
    : [{ id: 0, method: 'initialize', params: INITIALIZE }, { method: 'notifications/initialized' }];

describe('over stdio', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine(Object.fromEntries(NAMES.map((name) => [name, name])));
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  describe.each(ERAS)('%s', (era) => {
    it.each([
      ['_meta that is no object', { _meta: 'none' }, -32_602, 'params._meta must be an object'],
      ['_meta that is a list', { _meta: [] }, -32_602, 'params._meta must be an object'],
      ['a progress token of no kind', { _meta: { progressToken: {} } }, -32_600, 'The message is not a valid request'],
      ['params that are no object', 'none', -32_602, 'params must be an object'],
      ['params that are a list', ['none'], -32_602, 'params must be an object'],
    ])('a request with %s is answered', async (_what, params, code, message) => {
      await using wire = overStdio(engine.vitrine);
      wire.say(...begin(era), { id: 1, method: 'resources/list', params });
      expect(await wire.answer(1)).toEqual({ jsonrpc: '2.0', id: 1, error: { code, message } });
    });

    it('a request in pieces, or together with others, is answered', async () => {
      await using wire = overStdio(engine.vitrine);
      wire.say(...begin(era));
      const line = (id: number): string =>
        `${JSON.stringify({ jsonrpc: '2.0', id, method: 'x', params: { _meta: 'ü' } })}\n`;
      wire.say(line(1).slice(0, 20));
      wire.say(`${line(1).slice(20)}nothing\n\n{"jsonrpc":"2.0","result":5}\n${line(2)}${line(3).slice(0, 8)}`);
      wire.say(line(3).slice(8));
      const params = era === 'modern' ? { _meta: ENVELOPE } : {};
      wire.say({ id: 4, method: 'resources/list', params });
      for (const id of [1, 2, 3]) expect((await wire.answer(id)).error).toHaveProperty('code', -32_602);
      expect(await wire.answer(4)).toHaveProperty('result.resources');
    });

    it('many subscriptions at once cause no warning', async () => {
      const warnings: Error[] = [];
      const warned = (warning: Error): void => void warnings.push(warning);
      process.on('warning', warned);
      try {
        await using wire = overStdio(engine.vitrine);
        wire.say(...begin(era));
        const uris = NAMES.map((name) => `file:///${name}`);
        if (era === 'modern') {
          const params = { _meta: ENVELOPE, notifications: { resourceSubscriptions: uris } };
          wire.say({ id: 1, method: 'subscriptions/listen', params });
        } else {
          wire.say(...uris.map((uri, index) => ({ id: index + 1, method: 'resources/subscribe', params: { uri } })));
        }
        await until(() => engine.vitrine.changes.size >= NAMES.length, 'all watches');
      } finally {
        // A warning comes in the next turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        process.off('warning', warned);
      }
      expect(warnings).toEqual([]);
    });
  });
});

describe('over HTTP', () => {
  let vitrine: Vitrine;
  let serving: HttpServing;
  let opened: readonly (() => void)[] = [];
  beforeAll(async () => {
    const waiting = defineTool({
      name: 'waiting',
      inputSchema: { type: 'object', properties: { who: { type: 'string' } } },
      run: async ({ who }) => {
        await new Promise<void>((resolve) => {
          opened = [...opened, resolve];
        });
        return `for ${String(who)}`;
      },
    });
    vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [waiting] });
    serving = await serveHttp(vitrine, { port: 0 });
  });
  afterAll(async () => {
    await serving.close();
    await vitrine.close();
  });

  async function session(): Promise<Readonly<Record<string, string>>> {
    const { headers } = await post(serving.url, 'legacy', 'initialize', INITIALIZE);
    return {
      ...JSON_HEADERS,
      'mcp-protocol-version': '2025-11-25',
      'mcp-session-id': String(headers['mcp-session-id']),
    };
  }

  const call = (headers: Readonly<Record<string, string>>, ...who: readonly string[]): Promise<RawResponse> => {
    const messages = who.map((each) => ({
      jsonrpc: '2.0',
      id: 5,
      method: 'tools/call',
      params: { name: 'waiting', arguments: { who: each } },
    }));
    return http(serving.url, { headers, body: JSON.stringify(messages.length === 1 ? messages[0] : messages) });
  };

  it('an id in use in a session is refused, and free again after its answer', async () => {
    const headers = await session();
    opened = [];
    const first = call(headers, 'one');
    await until(() => opened.length === 1, 'the first call');
    const again = await within(call(headers, 'two'), 'the answer to the second');
    expect(again.status).toBe(400);
    expect(messageOf(again)).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_600, message: 'The id of a request is in use in this session' },
    });
    const other = call(await session(), 'another session');
    await until(() => opened.length === 2, 'the call of another session');
    for (const open of opened) open();
    expect(messageOf(await first).result).toEqual({ content: [{ type: 'text', text: 'for one' }] });
    expect(messageOf(await other).result).toEqual({ content: [{ type: 'text', text: 'for another session' }] });
    opened = [];
    const third = call(headers, 'three');
    await until(() => opened.length === 1, 'the third call');
    for (const open of opened) open();
    expect(messageOf(await third).result).toEqual({ content: [{ type: 'text', text: 'for three' }] });
  });

  it('an id that occurs twice in a batch is refused', async () => {
    expect(messageOf(await call(await session(), 'one', 'two')).error?.code).toBe(-32_600);
  });

  it('an id is free after its request was cancelled', async () => {
    const headers = await session();
    opened = [];
    const abandoned = call(headers, 'one').catch(() => undefined);
    await until(() => opened.length === 1, 'the first call');
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
    expect((await http(serving.url, { headers, body: JSON.stringify(cancel) })).status).toBe(202);
    const next = call(headers, 'two');
    await until(() => opened.length === 2, 'the second call');
    for (const open of opened) open();
    expect(messageOf(await next).result).toEqual({ content: [{ type: 'text', text: 'for two' }] });
    await http(serving.url, { method: 'DELETE', headers });
    await abandoned;
  });

  it.each([
    ['at once', false],
    ['in pieces', true],
  ])('a body that is not UTF-8 is refused: %s', async (_how, streamed) => {
    const bytes = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a'),
      Buffer.of(0xc3),
      Buffer.from('"}'),
    ]);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
    const response = await fetch(serving.url, {
      method: 'POST',
      headers: JSON_HEADERS,
      ...(streamed ? { body: stream, duplex: 'half' } : { body: bytes }),
    } as RequestInit);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_700, message: 'The request is not valid UTF-8' },
    });
  });
});
