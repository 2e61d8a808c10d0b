/** Telemetry as the configuration has it. Its code is loaded when it is wanted. */
import type { TelemetryConfig } from '../config/telemetry-schema.ts';
import { defined } from '../configured/engine-options.ts';
import type { Log } from '../core/context.ts';
import type { RunningTelemetry } from '../layers/telemetry/index.ts';
import type { MetricsOptions } from '../serving/http/probes.ts';

/** Undefined where nothing is wanted. @throws ResourceError `invalid` that says what to install */
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

/** Who may see the metrics over HTTP; undefined where they are not there. */
export function metricsOf(
  config: TelemetryConfig | undefined,
  running: RunningTelemetry | undefined,
): MetricsOptions | undefined {
  const { prometheus } = config?.metrics ?? {};
  if (running?.prometheus === undefined) return undefined;
  return { render: running.prometheus, ...(typeof prometheus === 'object' && prometheus) };
}
