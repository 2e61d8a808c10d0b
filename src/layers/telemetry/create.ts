/** Telemetry through the OpenTelemetry API, whoever is behind it. */
import type { Telemetry } from '../../core/telemetry.ts';
import { engineGauges, openedOf } from './gauges.ts';
import { createInstruments, type TelemetryOptions } from './instruments.ts';
import { operationsLayer } from './operations.ts';
import { requestsOf } from './requests.ts';

/**
 * Telemetry through the OpenTelemetry API. Without providers of its own it goes to the global ones, so to those that an
 * application has set up; without any, nowhere.
 *
 * @example
 * const vitrine = createVitrine({ mounts, telemetry: createTelemetry() });
 */
export function createTelemetry(options: TelemetryOptions = {}): Telemetry {
  const instruments = createInstruments(options);
  return {
    layer: (mountOf) => operationsLayer(instruments, mountOf),
    request: requestsOf(instruments),
    opened: openedOf(instruments),
    engine: (state) => engineGauges(instruments.meter, state),
  };
}
