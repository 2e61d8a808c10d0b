/**
 * Sets up the OpenTelemetry SDK and its exporters, for programs that have not done so themselves. The packages of the SDK
 * are optional peer dependencies, and are loaded only when they are needed. The `OTEL_*` environment variables that these
 * packages read keep their usual meaning.
 */

import type { MeterProvider as ApiMeterProvider, TracerProvider as ApiTracerProvider } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { type Log, SILENT } from '../../core/context.ts';
import { missingPackage } from '../../core/missing-package.ts';
import type { Telemetry } from '../../core/telemetry.ts';
import { VERSION } from '../../core/version.ts';
import { inTime, LATE } from '../../core/waiting/in-time.ts';
import { createTelemetry } from './create.ts';
import { reportTo } from './diagnostics.ts';

export interface TelemetrySetup {
  /** The name of the service in spans and metrics. Default: `OTEL_SERVICE_NAME`, or `vitrine`. */
  readonly serviceName?: string | undefined;
  /** Sends spans by OTLP over HTTP, as JSON. Default: no spans are sent. */
  readonly traces?: ExportTarget & {
    /** The share of traces that is recorded, from 0 to 1, among those that begin here. Default: `OTEL_TRACES_SAMPLER`, or all. */
    readonly sample?: number | undefined;
    /** Puts URIs into spans. Default: false. */
    readonly uris?: boolean | undefined;
  };
  /** Sends metrics by OTLP over HTTP, as JSON. Default: no metrics are sent. */
  readonly metrics?: ExportTarget & {
    /** Milliseconds between two exports. Default: 60,000. */
    readonly intervalMs?: number | undefined;
  };
  /** Makes the metrics available as text for Prometheus. Default: false. */
  readonly prometheus?: boolean | undefined;
  /** The log for the warnings of OpenTelemetry, such as that a collector cannot be reached. Default: none. */
  readonly log?: Log | undefined;
}

interface ExportTarget {
  /** The full URL. Default: the one in `OTEL_EXPORTER_OTLP_*`, or a collector at port 4318 of this machine. */
  readonly endpoint?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  /** Returns the current metrics in the text format of Prometheus; undefined unless `prometheus` was set. */
  readonly prometheus: (() => Promise<string>) | undefined;
  /** Sends the remaining data and shuts down. Returns whether all was sent within 3 seconds. */
  close(): Promise<boolean>;
}

/** Milliseconds after which one export is given up. An export may go on for so long after `close` has stopped waiting. */
const EXPORT_TIMEOUT_MS = 5_000;

const METRICS_INTERVAL_MS = 60_000;

/** Milliseconds that `close` waits for the last exports. */
const CLOSE_MS = 3_000;

/** Starts the exporters that the setup names. @throws ResourceError `invalid` that names the packages to install */
export async function startTelemetry(setup: TelemetrySetup): Promise<RunningTelemetry> {
  const { serviceName, traces, metrics, prometheus = false, log = SILENT } = setup;
  const measures = metrics !== undefined || prometheus;
  const stopReporting = reportTo(log);
  const resource = await resourceOf(serviceName);
  const tracing = traces === undefined ? undefined : await tracerProvider(resource, traces);
  const scraped = prometheus ? await prometheusReader() : undefined;
  const pushing = metrics === undefined ? [] : [await pushingReader(metrics)];
  const measuring = measures
    ? await meterProvider(resource, [...pushing, ...(scraped === undefined ? [] : [scraped.reader])])
    : undefined;
  const { noTraces, noMetrics } = await noopProviders();
  let closing: Promise<boolean> | undefined;
  return {
    telemetry: createTelemetry({
      tracerProvider: tracing ?? noTraces,
      meterProvider: measuring ?? noMetrics,
      uris: traces?.uris,
    }),
    prometheus: scraped?.render,
    close: () =>
      (closing ??= (async () => {
        const sent = await allInTime(Promise.allSettled([tracing?.shutdown(), measuring?.shutdown()]));
        stopReporting();
        return sent;
      })()),
  };
}

/**
 * Makes providers that record nothing. They stand for traces or metrics that are not configured, so that the providers
 * that the process may have registered globally do not get them.
 */
async function noopProviders(): Promise<{ noTraces: ApiTracerProvider; noMetrics: ApiMeterProvider }> {
  const { createNoopMeter, ProxyTracerProvider } = await import('@opentelemetry/api');
  return { noTraces: new ProxyTracerProvider(), noMetrics: { getMeter: () => createNoopMeter() } };
}

async function resourceOf(serviceName: string | undefined): Promise<Resource> {
  const { detectResources, envDetector, resourceFromAttributes } = await load(
    () => import('@opentelemetry/resources'),
    '@opentelemetry/resources',
  );
  const defaults = resourceFromAttributes({ [ATTR_SERVICE_NAME]: 'vitrine', [ATTR_SERVICE_VERSION]: VERSION });
  const configured = resourceFromAttributes(serviceName === undefined ? {} : { [ATTR_SERVICE_NAME]: serviceName });
  return defaults.merge(detectResources({ detectors: [envDetector] })).merge(configured);
}

type ClosingTracerProvider = ApiTracerProvider & { shutdown(): Promise<void> };

async function tracerProvider(
  resource: Resource,
  { endpoint, headers, sample }: NonNullable<TelemetrySetup['traces']>,
): Promise<ClosingTracerProvider> {
  const { BasicTracerProvider, BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler } = await load(
    () => import('@opentelemetry/sdk-trace-base'),
    '@opentelemetry/sdk-trace-base',
  );
  const { OTLPTraceExporter } = await load(
    () => import('@opentelemetry/exporter-trace-otlp-http'),
    '@opentelemetry/exporter-trace-otlp-http',
  );
  const exporter = new OTLPTraceExporter(targetOf({ endpoint, headers }));
  return new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(exporter)],
    ...(sample !== undefined && { sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample) }) }),
  });
}

async function meterProvider(resource: Resource, readers: IMetricReader[]): Promise<MeterProvider> {
  const { MeterProvider } = await load(() => import('@opentelemetry/sdk-metrics'), '@opentelemetry/sdk-metrics');
  return new MeterProvider({ resource, readers });
}

async function pushingReader({
  intervalMs = METRICS_INTERVAL_MS,
  ...target
}: NonNullable<TelemetrySetup['metrics']>): Promise<IMetricReader> {
  const { PeriodicExportingMetricReader } = await load(
    () => import('@opentelemetry/sdk-metrics'),
    '@opentelemetry/sdk-metrics',
  );
  const { OTLPMetricExporter } = await load(
    () => import('@opentelemetry/exporter-metrics-otlp-http'),
    '@opentelemetry/exporter-metrics-otlp-http',
  );
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(targetOf(target)),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, intervalMs),
  });
}

async function prometheusReader(): Promise<{ reader: IMetricReader; render: () => Promise<string> }> {
  const { PrometheusExporter, PrometheusSerializer } = await load(
    () => import('@opentelemetry/exporter-prometheus'),
    '@opentelemetry/exporter-prometheus',
  );
  const reader = new PrometheusExporter({ preventServerStart: true });
  // Leaves out the labels of the scope, since all metrics have the same scope.
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  return { reader, render: async () => serializer.serialize((await reader.collect()).resourceMetrics) };
}

const targetOf = ({ endpoint, headers }: ExportTarget) => ({
  timeoutMillis: EXPORT_TIMEOUT_MS,
  ...(endpoint !== undefined && { url: endpoint }),
  ...(headers !== undefined && { headers: { ...headers } }),
});

async function load<T>(importing: () => Promise<T>, name: string): Promise<T> {
  try {
    return await importing();
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    if (!missing) throw cause;
    throw missingPackage('telemetry needs a package that is not installed', [name], { cause });
  }
}

async function allInTime(work: Promise<readonly PromiseSettledResult<unknown>[]>): Promise<boolean> {
  const results = await inTime(work, CLOSE_MS);
  return results !== LATE && results.every(({ status }) => status === 'fulfilled');
}
