import { metrics, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { IncomingRequest } from '../../core/telemetry.ts';
import { layerContract } from '../../testing/layer-contract.ts';
import { innerProvider, RESOURCE, URI } from '../../testing/layer-law.ts';
import { EVERYTHING } from '../../testing/observe.ts';
import { createTelemetry } from './index.ts';

layerContract(
  'telemetry',
  createTelemetry().layer(() => 'mount'),
);

const REQUEST: IncomingRequest = {
  method: 'resources/read',
  id: 1,
  requestId: 'r',
  params: { uri: URI },
  meta: undefined,
  headers: undefined,
  transport: 'pipe',
  era: 'legacy',
  revision: undefined,
  session: undefined,
};

function recorder(): { exporter: InMemorySpanExporter; provider: BasicTracerProvider } {
  const exporter = new InMemorySpanExporter();
  return { exporter, provider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }) };
}

/** Reads give two streams of three bytes each. */
const streaming = (): ResourceProvider => ({
  ...innerProvider(),
  read: async () =>
    [1, 2].map(
      (): ResourceBody => ({
        resource: RESOURCE,
        content: {
          kind: 'stream',
          async *open() {
            yield new Uint8Array(3);
          },
        },
      }),
    ),
});

describe('a read', () => {
  it.each([
    [
      'with its last byte',
      6,
      async (bodies: readonly ResourceBody[]) => {
        for (const { content } of bodies) for await (const _ of chunksOf(content));
      },
    ],
    [
      'when nobody wants the rest',
      3,
      async (bodies: readonly ResourceBody[]) => {
        for (const { content } of bodies.slice(0, 1)) for await (const _ of chunksOf(content));
        await closeBodies(bodies);
        await closeBodies(bodies);
      },
    ],
  ])('ends %s', async (_what, bytes, take) => {
    const { exporter, provider } = recorder();
    const telemetry = createTelemetry({ tracerProvider: provider });
    const layered = telemetry.layer(() => 'mount')(streaming());
    await telemetry.request(REQUEST, async (place) => {
      const bodies = await layered.read(URI, EVERYTHING, { ...createContext(), trace: place });
      expect(exporter.getFinishedSpans()).toEqual([]);
      await take(bodies);
    });
    const [inner, outer] = exporter.getFinishedSpans();
    expect(inner).toMatchObject({ name: 'read mount', attributes: { 'vitrine.bytes': bytes } });
    expect(inner?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  });
});

describe('telemetry without providers of its own', () => {
  afterEach(() => {
    trace.disable();
    metrics.disable();
  });

  it('uses those of the application', async () => {
    const { exporter, provider } = recorder();
    trace.setGlobalTracerProvider(provider);
    await createTelemetry().request(REQUEST, async () => ({}));
    expect(exporter.getFinishedSpans().map(({ name, kind }) => [name, kind])).toEqual([['resources/read', 1]]);
  });

  it('passes on a trace in which it records nothing', async () => {
    const meta = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
    const sent = await createTelemetry().request({ ...REQUEST, meta }, (place) =>
      place.outgoing({ method: 'tools/call', name: 'x', mount: 'm', transport: 'tcp' }, async (given) => given),
    );
    expect(sent).toEqual(meta);
  });
});
