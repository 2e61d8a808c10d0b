/** A collector that receives OTLP as JSON over HTTP, and gives what it received. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../e2e/waiting.ts';

export interface SeenSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly service: unknown;
}

export interface Collector extends AsyncDisposable {
  readonly origin: string;
  readonly spans: readonly SeenSpan[];
  /** Names of the received metrics. */
  readonly metrics: ReadonlySet<string>;
  /** Everything, as it was received. */
  readonly bodies: readonly string[];
  readonly headers: readonly NodeJS.Dict<string | string[]>[];
  /** The first span that matches, as soon as it is there. */
  span(what: string, is: (span: SeenSpan) => boolean): Promise<SeenSpan>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const attributesOf = (all: readonly Attribute[] = []): Record<string, unknown> =>
  Object.fromEntries(all.map(({ key, value }) => [key, Object.values(value)[0]]));

interface TracesBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<SeenSpan, 'attributes' | 'failed' | 'service'> & {
        readonly attributes?: readonly Attribute[];
        readonly status?: { readonly code?: number };
      })[];
    }[];
  }[];
}

interface MetricsBody {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

/** @param answers `false` accepts connections and never answers */
export async function startCollector({ answers = true } = {}): Promise<Collector> {
  const spans: SeenSpan[] = [];
  const metrics = new Set<string>();
  const bodies: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    headers.push(request.headers);
    if (!answers) return;
    if (request.url === '/v1/traces') spans.push(...spansIn(JSON.parse(body) as TracesBody));
    else {
      const { resourceMetrics } = JSON.parse(body) as MetricsBody;
      for (const { scopeMetrics } of resourceMetrics)
        for (const scope of scopeMetrics) for (const { name } of scope.metrics) metrics.add(name);
    }
    response.setHeader('Content-Type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    bodies,
    headers,
    span: (what, is) => until(() => spans.find(is), `a span: ${what}; there are ${spans.map(({ name }) => name)}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const spansIn = ({ resourceSpans }: TracesBody): SeenSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, status, ...span }) => ({
        ...span,
        // As on the wire, where an empty one means none.
        parentSpanId: span.parentSpanId === '' ? undefined : span.parentSpanId,
        failed: status?.code === 2,
        attributes: attributesOf(attributes),
        service: attributesOf(resource.attributes)['service.name'],
      })),
    ),
  );
