/** Starts the telemetry of a configuration. The code is loaded only if telemetry is turned on. */
import type { TelemetryConfig } from '../config/telemetry-schema.ts';
import type { Log } from '../core/context.ts';
import { defined } from '../core/defined.ts';
import type { RunningTelemetry } from '../layers/telemetry/index.ts';
import type { MetricsOptions } from '../serving/http/probes.ts';

/** Returns undefined if telemetry is off. @throws ResourceError `invalid`, which names the package to install */
export async function telemetryOf(
  config: TelemetryConfig | undefined,
  log: Log,
): Promise<RunningTelemetry | undefined> {
  const { serviceName, traces = 'off', metrics } = config ?? {};
  const { intervalSeconds, prometheus = 'off', endpoint, headers } = metrics ?? {};
  if (traces === 'off' && endpoint === undefined && prometheus === 'off') return undefined;
  const { startTelemetry } = await import('../layers/telemetry/index.ts');
  const { uris, ...spans } = traces === 'on' || traces === 'off' ? {} : traces;
  const intervalMs = intervalSeconds === undefined ? undefined : intervalSeconds * 1_000;
  return startTelemetry({
    serviceName,
    log,
    prometheus: prometheus !== 'off',
    ...(traces !== 'off' && { traces: defined({ ...spans, uris: uris === 'on' }) }),
    ...(endpoint !== undefined && { metrics: defined({ endpoint, headers, intervalMs }) }),
  });
}

/** Returns the metrics for Prometheus and who may read them over HTTP; undefined if they are off. */
export function metricsOf(
  config: TelemetryConfig | undefined,
  running: RunningTelemetry | undefined,
): MetricsOptions | undefined {
  const { prometheus } = config?.metrics ?? {};
  if (running?.prometheus === undefined) return undefined;
  return { render: running.prometheus, ...(typeof prometheus === 'object' && prometheus) };
}
