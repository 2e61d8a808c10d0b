/** Concurrency and memory: over the wire, in both eras (SEC-RES-3, SEC-RES-4, RES-7). */
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ResourceBody } from '../../src/core/body.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import { defineTool } from '../../src/core/tool.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { http, INITIALIZE, JSON_HEADERS, startPipe } from '../e2e/raw.ts';
import { until, within } from '../e2e/waiting.ts';
import { as, asker, ENVELOPE, initialize, outcomeOf, type Person, postModern, serveWith } from './usage.ts';

const URI = 'memory:///note.txt';

const limited = (limit: string) => ({
  code: -32_603,
  data: { reason: 'limited', retryable: true, limit, retryAfterMs: expect.any(Number) },
});

/** A tool that runs until the test lets it end, or its caller has gone. */
function hangingTool() {
  const waiting = new Set<() => void>();
  const tool = defineTool({
    name: 'hang',
    inputSchema: { type: 'object' },
    run: (_args, { signal }) =>
      new Promise<string>((resolve) => {
        const end = (): void => {
          waiting.delete(end);
          resolve('let go');
        };
        waiting.add(end);
        signal.addEventListener('abort', end, { once: true });
      }),
  });
  return { tool, running: () => waiting.size, letGo: () => [...waiting].map((end) => end()) };
}

describe.each(ERAS)('concurrent requests, %s', (era) => {
  it('are limited for each principal, and in total; others are refused at once', async () => {
    const { tool, running, letGo } = hangingTool();
    await using on = await serveWith({ maxConcurrent: 3, maxConcurrentPerPrincipal: 2 }, { tools: [tool] });
    const [ann, bob, nobody] = [
      await asker(on.url, era, 'ann'),
      await asker(on.url, era, 'bob'),
      await asker(on.url, era, undefined),
    ];
    const hang = { name: 'hang', arguments: {} };
    const hanging = [ann('tools/call', hang), ann('tools/call', hang)];
    await until(() => running() === 2, 'two calls');
    const own = await ann('resources/read', { uri: URI });
    expect(own.error).toMatchObject(limited('maxConcurrentPerPrincipal'));
    if (era === 'modern') expect(own.response.headers['retry-after']).toBe('1');
    hanging.push(bob('tools/call', hang));
    await until(() => running() === 3, 'a call of another one');
    expect((await nobody('resources/read', { uri: URI })).error).toMatchObject(limited('maxConcurrent'));
    letGo();
    for (const { error } of await Promise.all(hanging)) expect(error).toBeUndefined();
    expect((await ann('resources/read', { uri: URI })).error).toBeUndefined();
  });

  it('make room when a caller has gone, whose work then stops', async () => {
    const { tool, running } = hangingTool();
    await using on = await serveWith({ maxConcurrentPerPrincipal: 1 }, { tools: [tool] });
    const ann = await asker(on.url, 'modern', 'ann');
    const message = { params: { name: 'hang', arguments: {}, _meta: ENVELOPE } };
    const gone = httpRequest(on.url, {
      method: 'POST',
      headers: {
        ...JSON_HEADERS,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'hang',
        ...as('ann'),
      },
    });
    gone.on('error', () => {});
    gone.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', ...message }));
    await until(() => running() === 1, 'the call');
    expect((await ann('resources/list')).error).toMatchObject(limited('maxConcurrentPerPrincipal'));
    gone.destroy();
    await until(async () => (await ann('resources/list')).error === undefined, 'room for a request');
    expect(running()).toBe(0);
  });
});

const PART = 600 * 1024;
const HEAD = 64 * 1024;
const LARGE = 'large:///a.txt';

/** Two large resources, whose content waits until the test lets it go. */
function hangingContents() {
  const waiting = new Set<() => void>();
  const bytes = new Uint8Array(PART).fill(65);
  const inner = memoryProvider({ scheme: 'large', resources: { 'a.txt': { bytes }, 'b.txt': { bytes } } });
  const provider = wrapProvider(inner, {
    read: async (uri, want, ctx) => {
      const bodies = await inner.read(uri, want, ctx);
      return bodies.map((body): ResourceBody => {
        async function* open() {
          // Its type is known from its first bytes.
          yield bytes.subarray(0, HEAD);
          await new Promise<void>((resolve, reject) => {
            waiting.add(resolve);
            ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason), { once: true });
          });
          yield bytes.subarray(HEAD);
        }
        return { ...body, content: { kind: 'stream', size: PART, open } };
      });
    },
  });
  const letGo = (): void => {
    for (const end of waiting) end();
    waiting.clear();
  };
  return { provider, reading: () => waiting.size, letGo };
}

describe.each(ERAS)('the memory of all reads together, %s [RES-7]', (era) => {
  const MIB = 1024 * 1024;

  it('makes a read wait until there is room', async () => {
    const { provider, reading, letGo } = hangingContents();
    await using on = await serveWith({ maxHeldBytes: MIB }, { mounts: [{ name: 'large', provider, prefix: 'none' }] });
    const ann = await asker(on.url, era, 'ann');
    const first = ann('resources/read', { uri: LARGE });
    await until(() => reading() === 1, 'the first read');
    const second = ann('resources/read', { uri: 'large:///b.txt' });
    // Requests for small contents, or for none, do not wait.
    expect((await ann('resources/metadata', { uri: LARGE })).error).toBeUndefined();
    expect(reading()).toBe(1);
    letGo();
    expect((await first).error).toBeUndefined();
    await until(() => reading() === 1, 'the second read');
    letGo();
    expect((await second).error).toBeUndefined();
  });

  it('refuses a read after some waiting, to clients and to tools', async () => {
    const { provider, reading, letGo } = hangingContents();
    await using on = await serveWith({ maxHeldBytes: MIB }, { mounts: [{ name: 'large', provider, prefix: 'none' }] });
    const ann = await asker(on.url, era, 'ann');
    const first = ann('resources/read', { uri: LARGE });
    await until(() => reading() === 1, 'the first read');
    const call = ann('tools/call', { name: 'read', arguments: { uri: LARGE, max_bytes: PART } });
    const [read, called] = await Promise.all([ann('resources/read', { uri: LARGE }), call]);
    expect(read.error).toMatchObject(limited('maxHeldBytes'));
    if (era === 'modern') expect(read.response.headers['retry-after']).toBe('3');
    expect(called.response.text).toMatch(/maxHeldBytes/);
    expect(reading()).toBe(1);
    letGo();
    expect((await first).error).toBeUndefined();
  });
});

describe('sessions and streams of one principal [SEC-RES-4]', () => {
  it('are limited in sessions, while others have theirs', async () => {
    await using on = await serveWith({ maxSessionsPerPrincipal: 2 });
    const begin = async (person: Person) => outcomeOf(await initialize(on.url, person));
    const first = await begin('ann');
    await begin('ann');
    const third = await begin('ann');
    expect(third.error).toMatchObject(limited('maxSessionsPerPrincipal'));
    expect(third.response.headers['retry-after']).toBe('60');
    expect((await begin('bob')).error).toBeUndefined();
    expect((await begin(undefined)).error).toBeUndefined();
    const headers = { 'mcp-session-id': String(first.response.headers['mcp-session-id']), ...as('ann') };
    await http(on.url, { method: 'DELETE', headers: { ...headers, 'mcp-protocol-version': '2025-11-25' } });
    expect((await begin('ann')).error).toBeUndefined();
  });

  it('are limited in streams, while others have theirs', async () => {
    await using on = await serveWith({ maxStreamsPerPrincipal: 1 });
    const first = await listen(on.url, 'ann', { resourcesListChanged: true });
    const params = { notifications: { resourcesListChanged: true }, _meta: ENVELOPE };
    const second = outcomeOf(await postModern(on.url, { params }, 'subscriptions/listen', 'ann'));
    expect(second.error).toMatchObject(limited('maxStreamsPerPrincipal'));
    expect(second.response.headers['retry-after']).toBe('60');
    (await listen(on.url, 'bob', { resourcesListChanged: true })).close();
    first.close();
    const again = await until(
      () => listen(on.url, 'ann', { resourcesListChanged: true }).catch(() => undefined),
      'room for a stream',
    );
    again.close();
  });
});

describe('subscriptions of one principal [SEC-RES-4]', () => {
  const uris = ['memory:///note.txt', 'memory:///other.txt'];

  it('are limited over all sessions', async () => {
    await using on = await serveWith({ maxSubscriptionsPerPrincipal: 2 });
    const [one, another] = [await asker(on.url, 'legacy', 'ann'), await asker(on.url, 'legacy', 'ann')];
    for (const uri of uris) expect((await one('resources/subscribe', { uri })).error).toBeUndefined();
    expect((await another('resources/subscribe', { uri: URI })).error).toMatchObject(
      limited('maxSubscriptionsPerPrincipal'),
    );
    const bob = await asker(on.url, 'legacy', 'bob');
    expect((await bob('resources/subscribe', { uri: URI })).error).toBeUndefined();
    await one('resources/unsubscribe', { uri: URI });
    expect((await another('resources/subscribe', { uri: URI })).error).toBeUndefined();
  });

  it('are limited over all streams; those over the limit are left out of the acknowledged filter', async () => {
    await using on = await serveWith({ maxSubscriptionsPerPrincipal: 1 });
    const stream = await listen(on.url, 'ann', { resourceSubscriptions: uris });
    expect(stream.acknowledged).toContain('note.txt');
    expect(stream.acknowledged).not.toContain('other.txt');
    const bob = await listen(on.url, 'bob', { resourceSubscriptions: [URI] });
    expect(bob.acknowledged).toContain('note.txt');
    bob.close();
    stream.close();
  });

  it('are limited when made by tools', async () => {
    await using on = await serveWith({ maxSubscriptionsPerPrincipal: 1 });
    const ann = await asker(on.url, 'modern', 'ann');
    const subscribe = async (uri: string) =>
      (await ann('tools/call', { name: 'subscribe', arguments: { uri } })).response.text;
    expect(await subscribe(URI)).not.toContain('isError');
    expect(await subscribe('memory:///other.txt')).toContain('maxSubscriptionsPerPrincipal');
  });
});

/** A stream of the 2026 era, with its first event. */
async function listen(url: string, person: Person, notifications: object) {
  const abort = new AbortController();
  const response = await fetch(url, {
    method: 'POST',
    signal: abort.signal,
    headers: {
      ...JSON_HEADERS,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
      ...as(person),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications, _meta: ENVELOPE },
    }),
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
    throw new Error(`no stream: ${await response.text()}`);
  }
  const reader = response.body.getReader();
  let acknowledged = '';
  const decoder = new TextDecoder();
  while (!acknowledged.includes('notifications/subscriptions/acknowledged')) {
    const { done, value } = await within(reader.read(), 'the first event');
    if (done) throw new Error(`the stream ended: ${acknowledged}`);
    acknowledged += decoder.decode(value);
  }
  return { acknowledged, close: () => abort.abort() };
}

describe('a message with too many levels [SEC-RES-3]', () => {
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const message = (era: 'legacy' | 'modern', levels: number): string =>
    `{"jsonrpc":"2.0","id":7,"method":"resources/list","params":{"x":${deep(levels)}${era === 'modern' ? `,"_meta":${JSON.stringify(ENVELOPE)}` : ''}}}`;

  it.each(ERAS)('is refused over HTTP before it is parsed, %s', async (era) => {
    await using on = await serveWith({});
    const ofEra = era === 'modern' ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/list' } : {};
    const send = (levels: number) =>
      http(on.url, { headers: { ...JSON_HEADERS, ...ofEra }, body: message(era, levels) });
    for (const levels of [63, 100_000]) {
      const { status, text } = await send(levels);
      expect([status, text]).toEqual([400, expect.stringContaining('64 levels')]);
    }
    expect((await send(60)).text).not.toContain('64 levels');
  });

  it.each(ERAS)('is refused over stdio, and the connection goes on, %s', async (era) => {
    await using folder = await temporaryFolder({ 'a.txt': 'A' });
    await using on = startPipe(era, [folder.path]);
    if (era === 'legacy') {
      await on.request(1, 'initialize', INITIALIZE);
      on.notify('notifications/initialized');
    }
    on.write(`${message(era, 100_000)}\n`);
    const answer = await on.line((each) => 'id' in each && each.id === 7, 'the refusal');
    expect(answer).toMatchObject({ error: { code: -32_600, message: expect.stringContaining('64 levels') } });
    expect(await on.request(8, 'resources/read', { uri: 'file:///a.txt' })).toMatchObject({
      result: { contents: [{ text: 'A' }] },
    });
  });
});
