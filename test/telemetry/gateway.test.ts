/** A trace continues in mounted servers, in every pairing of eras. */
import { describe, expect, it } from 'vitest';
import { upstream } from '../../src/providers/upstream/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { startFixture } from '../gateway/fixture/link.ts';
import { startCollector } from './collector.ts';
import { observe } from './engine.ts';
import { startRecorder } from './recorder.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const _meta = {
  traceparent: `00-${TRACE}-${PARENT}-01`,
  tracestate: 'rojo=1',
  baggage: 'user=al%20ice;p=1, bad key=1,n=2',
};

const PAIRS = ERAS.flatMap((era) => ERAS.map((speaking) => ({ era, speaking })));

describe.each(PAIRS)('a client of the $era era and a server of the $speaking era', ({ era, speaking }) => {
  it('share one trace, which is in the `_meta` of its requests, and in no other request or header', async () => {
    await using collector = await startCollector();
    await using fixture = await startFixture(speaking);
    await using recorder = await startRecorder(fixture.url);
    const up = upstream({ name: 'up', target: { url: recorder.url } });
    await using on = await observe({
      mounts: [{ name: 'up', provider: up.provider, server: up.server, health: () => up.health() }],
      setup: { traces: { endpoint: `${collector.origin}/v1/traces` } },
    });
    expect(await up.ready(60_000)).toBe(true);
    const client = await on.client(era);
    const { tools } = await client.request<{ tools: { name: string }[] }>('tools/list');
    const tool =
      tools.find(({ name }) => name.startsWith('up_') && name.endsWith('echo'))?.name ?? tools[0]?.name ?? '';
    await client.request('resources/read', { uri: 'up+fixture:///a.txt', _meta }).catch(() => {});
    await client.request('tools/call', { name: tool, arguments: {}, _meta }).catch(() => {});
    await on.flush();
    for (const method of ['resources/read', 'tools/call']) {
      const sent = recorder.messages.find((message) => message.method === method);
      const [, traceId, spanId, flags] = String(sent?.params?._meta?.traceparent).split('-');
      expect([traceId, flags]).toEqual([TRACE, '01']);
      expect(spanId).not.toBe(PARENT);
      expect(sent?.params?._meta).toMatchObject({ tracestate: 'rojo=1', baggage: 'user=al%20ice;p=1,n=2' });
      const outgoing = await collector.span(`for ${method}`, (span) => span.spanId === spanId);
      expect(outgoing).toMatchObject({ kind: 3, traceId: TRACE });
      expect(outgoing.attributes).toMatchObject({ 'mcp.method.name': method, 'vitrine.mount': 'up' });
      const server = collector.spans.find((span) => span.kind === 2 && span.parentSpanId === PARENT);
      expect(server?.traceId).toBe(TRACE);
    }
    // Each request of the client has its own span: later requests contain nothing of earlier ones.
    const traced = recorder.messages.filter(({ params }) => params?._meta?.baggage !== undefined);
    expect(new Set(traced.map(({ method }) => method))).toEqual(new Set(['resources/read', 'tools/call']));
    expect([...recorder.headers].filter((name) => /^(trace|baggage)/.test(name))).toEqual([]);
  });
});
