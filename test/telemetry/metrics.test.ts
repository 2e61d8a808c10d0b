/** Metrics as Prometheus reads them, and who may see them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createVitrine, defineTool, serveHttp } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { failure, read } from '../e2e/answers.ts';
import { ERAS } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { startCollector } from './collector.ts';
import { type Observed, observe } from './engine.ts';
import { samplesOf, total } from './samples.ts';

const TOKEN = 'a-token-for-the-scraper';
const auth = { resource: 'http://127.0.0.1/mcp', tokens: [{ name: 'somebody', hash: 'a'.repeat(64) }] };

const echo = defineTool({ name: 'echo', inputSchema: z.object({ word: z.string() }), run: ({ word }) => word });

/** A tool that runs until `release` is called. */
function held() {
  let release = (): void => {};
  const released = new Promise<string>((resolve) => {
    release = () => resolve('done');
  });
  return { release, tool: defineTool({ name: 'held', inputSchema: z.object({}), run: () => released }) };
}

const engine = (options: Partial<Parameters<typeof observe>[0]> = {}): Promise<Observed> =>
  observe({
    mounts: [{ name: 'notes', provider: memoryProvider({ resources: { 'a.txt': { text: '12345' } } }) }],
    tools: [echo],
    setup: { prometheus: true },
    ...options,
  });

/** The code of a missing resource. */
const MISSING = { legacy: '-32002', modern: '-32602' } as const;

describe.each(ERAS)('in the %s era', (era) => {
  it('counts requests, their operations, and open sessions and streams', async () => {
    await using on = await engine();
    const client = await on.client(era);
    await read(client, 'notes+memory:///a.txt');
    await read(client, 'notes+memory:///a.txt');
    await failure(read(client, 'notes+memory:///missing.txt'));
    await client.request('tools/call', { name: 'echo', arguments: { word: 'x' } });
    for (const name of ['made-up-1', 'made-up-2']) await failure(client.request('tools/call', { name }));
    await client.reachable;
    const samples = await samplesOf(on);
    const count = 'mcp_server_operation_duration_count';
    expect(total(samples, count, { mcp_method_name: 'resources/read' })).toBe(3);
    expect(total(samples, count, { mcp_method_name: 'resources/read', error_type: MISSING[era] })).toBe(1);
    expect(total(samples, count, { gen_ai_tool_name: 'echo' })).toBe(1);
    // Names that callers invent get no time series of their own.
    expect(total(samples, count, { gen_ai_tool_name: '_OTHER' })).toBe(2);
    const operations = 'vitrine_mount_operation_duration_count';
    expect(total(samples, operations, { vitrine_mount: 'notes', vitrine_operation: 'read' })).toBe(3);
    expect(total(samples, 'vitrine_mount_read_io_total', { vitrine_mount: 'notes' })).toBe(10);
    expect(total(samples, 'vitrine_sessions')).toBe(era === 'legacy' ? 1 : 0);
    expect(total(samples, 'vitrine_streams')).toBe(era === 'legacy' ? 1 : 0);
    expect(total(samples, 'process_memory_usage')).toBeGreaterThan(1_000_000);
    expect(samples.some(({ name }) => name.startsWith('nodejs_eventloop_utilization'))).toBe(true);
    await client.close();
    const ended = await until(async () => {
      const after = await samplesOf(on);
      return total(after, 'vitrine_sessions') === 0 && total(after, 'vitrine_streams') === 0 && after;
    }, 'the end of the session');
    expect(total(ended, 'mcp_server_session_duration_count')).toBe(era === 'legacy' ? 1 : 0);
  });

  it('counts running requests, without streams', async () => {
    const { tool, release } = held();
    await using on = await engine({ tools: [tool] });
    const client = await on.client(era);
    await client.reachable;
    const running = async (): Promise<number> => total(await samplesOf(on), 'vitrine_requests');
    await until(async () => (await running()) === 0, 'nothing to run');
    const calls = [1, 2].map(() => client.request('tools/call', { name: 'held', arguments: {} }));
    await until(async () => (await running()) === 2, 'two calls to run');
    release();
    await Promise.all(calls);
    await until(async () => (await running()) === 0, 'the calls to end');
  });
});

it('if only a collector of metrics is configured, metrics are sent to it at the end, and there are neither spans nor /metrics', async () => {
  await using collector = await startCollector();
  const metrics = { endpoint: `${collector.origin}/v1/metrics` };
  await using on = await engine({ setup: { metrics } });
  await read(await on.client('modern'), 'notes+memory:///a.txt');
  await on.flush();
  expect(collector.metrics).toContain('mcp.server.operation.duration');
  expect(collector.metrics).toContain('nodejs.eventloop.utilization');
  expect(collector.spans).toEqual([]);
  expect((await on.get('/metrics')).status).toBe(404);
});

describe('the metrics are shown to', () => {
  const status = async (on: Observed, headers: Record<string, string> = {}): Promise<number> =>
    (await on.get('/metrics', headers)).status;
  const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

  it('callers of this machine that no proxy forwards', async () => {
    await using on = await engine();
    expect(await status(on)).toBe(200);
    expect(await status(on, { 'X-Forwarded-For': '203.0.113.9' })).toBe(403);
    expect(await status(on, { Origin: 'https://evil.example' })).toBe(403);
  });

  it('callers with the token, if there is one', async () => {
    await using on = await engine({ metrics: { token: TOKEN }, http: { auth } });
    expect(await status(on)).toBe(401);
    expect(await status(on, bearer(`${TOKEN}x`))).toBe(401);
    expect(await status(on, { ...bearer(TOKEN), 'X-Forwarded-For': '203.0.113.9' })).toBe(200);
  });

  it('everybody, if configured', async () => {
    await using on = await engine({ metrics: { open: true }, http: { auth } });
    expect(await status(on, { 'X-Forwarded-For': '203.0.113.9' })).toBe(200);
  });

  it('nobody: the server does not start if auth is configured without a choice for the metrics, or if their token is short', async () => {
    const vitrine = createVitrine({ mounts: [] });
    const render = async (): Promise<string> => '';
    await expect(serveHttp(vitrine, { port: 0, auth, metrics: { render } })).rejects.toThrow(/token of their own/);
    await expect(serveHttp(vitrine, { port: 0, metrics: { render, token: 'short' } })).rejects.toThrow(/16 characters/);
    await vitrine.close();
  });
});
