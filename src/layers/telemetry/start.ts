/**
 * The OpenTelemetry SDK with its exporters, for whoever has none set up. Its packages are optional peers, and loaded
 * when they are wanted. The `OTEL_*` variables of the environment that they know mean what they always do.
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
  /** Default: `OTEL_SERVICE_NAME`, or `vitrine`. */
  readonly serviceName?: string | undefined;
  /** Sends spans by OTLP over HTTP, as JSON. Default: not. */
  readonly traces?: ExportTarget & {
    /** Part of the traces that begin here, 0 to 1. Default: `OTEL_TRACES_SAMPLER`, or all. */
    readonly sample?: number | undefined;
    /** Puts URIs into spans. Default: not. */
    readonly uris?: boolean | undefined;
  };
  /** Sends metrics by OTLP over HTTP, as JSON. Default: not. */
  readonly metrics?: ExportTarget & {
    /** Between two of them, in milliseconds. Default: 60,000. */
    readonly intervalMs?: number | undefined;
  };
  /** Gives metrics out as text for Prometheus. Default: not. */
  readonly prometheus?: boolean | undefined;
  /** The log that is told that nothing gets through. */
  readonly log?: Log | undefined;
}

interface ExportTarget {
  /** The whole URL. Default: that of `OTEL_EXPORTER_OTLP_*`, or of a collector on this machine, port 4318. */
  readonly endpoint?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface RunningTelemetry {
  readonly telemetry: Telemetry;
  /** The metrics as they are now, in the text format of Prometheus; undefined where they are not wanted. */
  readonly prometheus: (() => Promise<string>) | undefined;
  /** Sends what waits, and ends: whether it got away. A collector that does not take it is waited for 3 seconds. */
  close(): Promise<boolean>;
}

/** One export, in milliseconds: also the longest that one goes on after the end was waited for. */
const EXPORT_TIMEOUT_MS = 5_000;

const METRICS_INTERVAL_MS = 60_000;

/** The last export of all is waited for, in milliseconds. */
const CLOSE_MS = 3_000;

/** @throws ResourceError `invalid` that names the packages to install */
export async function startTelemetry(setup: TelemetrySetup): Promise<RunningTelemetry> {
  const { serviceName, traces, metrics, prometheus = false, log = SILENT } = setup;
  const measures = metrics !== undefined || prometheus;
  const quiet = reportTo(log);
  const resource = await resourceOf(serviceName);
  const tracing = traces === undefined ? undefined : await tracerProvider(resource, traces);
  const text = prometheus ? await prometheusReader() : undefined;
  const pushing = metrics === undefined ? [] : [await pushingReader(metrics)];
  const measuring = measures
    ? await meterProvider(resource, [...pushing, ...(text === undefined ? [] : [text.reader])])
    : undefined;
  const { noTraces, noMetrics } = await nothing();
  let closing: Promise<boolean> | undefined;
  return {
    telemetry: createTelemetry({
      tracerProvider: tracing ?? noTraces,
      meterProvider: measuring ?? noMetrics,
      uris: traces?.uris,
    }),
    prometheus: text?.render,
    close: () =>
      (closing ??= (async () => {
        const sent = await bounded(Promise.allSettled([tracing?.shutdown(), measuring?.shutdown()]));
        quiet();
        return sent;
      })()),
  };
}

/** Makes providers that record nothing, for what is not configured, also in a process that has providers of its own. */
async function nothing(): Promise<{ noTraces: ApiTracerProvider; noMetrics: ApiMeterProvider }> {
  const { createNoopMeter, ProxyTracerProvider } = await import('@opentelemetry/api');
  return { noTraces: new ProxyTracerProvider(), noMetrics: { getMeter: () => createNoopMeter() } };
}

async function resourceOf(serviceName: string | undefined): Promise<Resource> {
  const { detectResources, envDetector, resourceFromAttributes } = await load(
    () => import('@opentelemetry/resources'),
    '@opentelemetry/resources',
  );
  const own = resourceFromAttributes({ [ATTR_SERVICE_NAME]: 'vitrine', [ATTR_SERVICE_VERSION]: VERSION });
  const said = resourceFromAttributes(serviceName === undefined ? {} : { [ATTR_SERVICE_NAME]: serviceName });
  return own.merge(detectResources({ detectors: [envDetector] })).merge(said);
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
  // Without the scope, which is the same of all.
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

async function bounded(work: Promise<readonly PromiseSettledResult<unknown>[]>): Promise<boolean> {
  const all = await inTime(work, CLOSE_MS);
  return all !== LATE && all.every(({ status }) => status === 'fulfilled');
}
