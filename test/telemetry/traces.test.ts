/** Spans of requests, over the wire to a collector. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { failure, read } from '../e2e/answers.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { connect, ERAS, MATRIX } from '../e2e/harness.ts';
import { startCollector } from './collector.ts';
import { type Observed, observe } from './engine.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const _meta = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'rojo=1' };
const SECRET = 'xK7-argument-that-is-private';
const URI = 'notes+memory:///a.txt';

const echo = defineTool({
  name: 'echo',
  inputSchema: z.object({ word: z.string() }),
  run: ({ word }) => (word === 'fail' ? { content: [], isError: true } : word),
});

const engine = (endpoint: string, setup: object = {}): Promise<Observed> =>
  observe({
    mounts: [{ name: 'notes', provider: memoryProvider({ resources: { 'a.txt': { text: `content ${SECRET}` } } }) }],
    tools: [echo],
    setup: { serviceName: 'test', traces: { endpoint: `${endpoint}/v1/traces`, ...setup } },
  });

describe.each(MATRIX)('over $transport in the $era era', ({ transport, era }) => {
  it('a request is a span below the one in its _meta, and the operation of its mount is below that', async () => {
    await using collector = await startCollector();
    await using folder = await temporaryFolder({ 'docs/a.txt': SECRET });
    const traces = { endpoint: `${collector.origin}/v1/traces`, headers: { 'x-key': 'collector' } };
    const config = await writeConfig(folder, { mounts: { docs: './docs' }, telemetry: { serviceName: 'cli', traces } });
    const on = await connect(transport, era, [config]);
    try {
      await on.request('resources/read', { uri: 'docs+file:///a.txt', _meta });
      await on.request('tools/call', { name: 'read', arguments: { uri: 'docs+file:///a.txt' }, _meta });
    } finally {
      await on.close();
    }
    const reads = await collector.span('the read', ({ name }) => name === 'resources/read');
    const call = await collector.span('the call', ({ name }) => name === 'tools/call read');
    for (const span of [reads, call]) {
      expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2, failed: false, service: 'cli' });
      expect(span.attributes).toMatchObject({
        'network.transport': transport === 'stdio' ? 'pipe' : 'tcp',
        'mcp.protocol.version': era === 'modern' ? '2026-07-28' : expect.stringMatching(/^2025-/),
        'jsonrpc.request.id': expect.any(String),
        'vitrine.request.id': expect.any(String),
      });
      expect('mcp.session.id' in span.attributes).toBe(era === 'legacy');
    }
    expect(reads.attributes).toMatchObject({ 'mcp.method.name': 'resources/read' });
    expect(call.attributes).toMatchObject({ 'gen_ai.tool.name': 'read', 'gen_ai.operation.name': 'execute_tool' });
    const within = await collector.span('the mount', ({ parentSpanId }) => parentSpanId === reads.spanId);
    expect(within).toMatchObject({ name: 'read docs', traceId: TRACE, kind: 1 });
    expect(within.attributes).toMatchObject({ 'vitrine.mount': 'docs', 'vitrine.operation': 'read' });
    expect(Number(within.attributes['vitrine.bytes'])).toBe(SECRET.length);
    expect(collector.headers[0]).toMatchObject({ 'x-key': 'collector' });
    expect(collector.bodies.join()).not.toContain(SECRET);
    expect(collector.bodies.join()).not.toContain('a.txt');
  });
});

describe.each(ERAS)('in the %s era', (era) => {
  it('failures have the code of the error, and a failed tool is a failure', async () => {
    await using collector = await startCollector();
    await using on = await engine(collector.origin);
    const client = await on.client(era);
    await failure(read(client, 'notes+memory:///missing.txt'));
    await client.request('tools/call', { name: 'echo', arguments: { word: 'fail' } });
    await failure(client.request('tools/call', { name: 'made-up', arguments: { word: SECRET } }));
    await on.flush();
    const code = era === 'legacy' ? '-32002' : '-32602';
    const missing = await collector.span('the read', ({ attributes }) => attributes['error.type'] === code);
    expect(missing).toMatchObject({ name: 'resources/read', failed: true });
    expect(missing.attributes).toMatchObject({ 'rpc.response.status_code': code });
    const inner = await collector.span('the mount', ({ parentSpanId }) => parentSpanId === missing.spanId);
    expect(inner.attributes).toMatchObject({ 'error.type': 'not-found' });
    const tool = await collector.span('the tool', ({ attributes }) => attributes['error.type'] === 'tool_error');
    expect(tool).toMatchObject({ name: 'tools/call echo', failed: true });
    const madeUp = await collector.span('it', ({ attributes }) => attributes['gen_ai.tool.name'] === 'made-up');
    expect(madeUp).toMatchObject({ name: 'tools/call', failed: true });
    expect(collector.bodies.join()).not.toContain(SECRET);
  });

  it('URIs are in spans if configured, cut to 512 characters; an invalid trace context is no parent', async () => {
    await using collector = await startCollector();
    await using on = await engine(collector.origin, { uris: true });
    const client = await on.client(era);
    await client.request('resources/metadata', { uri: URI });
    await client.request('resources/metadata', { uri: `${URI}/${'x'.repeat(2_000)}` }).catch(() => {});
    await client.request('resources/list', { _meta: { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` } });
    await on.flush();
    const found = await collector.span(
      'it',
      ({ kind, attributes }) => kind === 2 && attributes['mcp.resource.uri'] === URI,
    );
    expect(found.parentSpanId).toBeUndefined();
    const long = collector.spans.filter(({ attributes }) => String(attributes['mcp.resource.uri']).length > URI.length);
    expect(long.map(({ attributes }) => String(attributes['mcp.resource.uri']).length)).toEqual([512, 512]);
    const list = await collector.span('the list', ({ name }) => name === 'resources/list');
    expect(list.parentSpanId).toBeUndefined();
    expect(list.traceId).not.toBe(TRACE);
  });
});

it('takes the trace from the header of an HTTP request', async () => {
  await using collector = await startCollector();
  await using on = await engine(collector.origin);
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const ask = async (params: object): Promise<void> => {
    const response = await fetch(on.serving.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'resources/list',
        traceparent: `00-${TRACE}-${PARENT}-01`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: meta, ...params } }),
    });
    expect(response.status).toBe(200);
    await response.text();
  };
  await ask({});
  // A progress token is another key of `_meta`; the header counts beside it, too.
  await ask({ _meta: { ...meta, progressToken: 1 } });
  await on.flush();
  const lists = collector.spans.filter(({ name }) => name === 'resources/list');
  expect(lists.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([
    [TRACE, PARENT],
    [TRACE, PARENT],
  ]);
});

it('limits the spans of one request, and counts the left-out ones', async () => {
  await using collector = await startCollector();
  const resources = Object.fromEntries(
    Array.from({ length: 150 }, (_, index) => [`f${index}/a.txt`, { text: 'x' }] as const),
  );
  await using on = await observe({
    mounts: [{ name: 'notes', provider: memoryProvider({ resources }) }],
    setup: { traces: { endpoint: `${collector.origin}/v1/traces` } },
  });
  const client = await on.client('modern');
  let cursor: string | undefined;
  do {
    const page: { nextCursor?: string } = await client.request(
      'resources/list',
      cursor === undefined ? {} : { cursor },
    );
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  await on.flush();
  const whole = collector.spans.filter(({ attributes }) => Number(attributes['vitrine.spans.left_out']) > 0);
  expect(whole).not.toEqual([]);
  for (const { spanId } of whole)
    expect(collector.spans.filter(({ parentSpanId }) => parentSpanId === spanId)).toHaveLength(100);
});
