/** Creates telemetry through the OpenTelemetry API, for any implementation of it. */
import type { Telemetry } from '../../core/telemetry.ts';
import { engineGauges, openedOf } from './gauges.ts';
import { createInstruments, type TelemetryOptions } from './instruments.ts';
import { operationsLayer } from './operations.ts';
import { requestsOf } from './requests.ts';

/**
 * Creates telemetry through the OpenTelemetry API. Without providers in the options, it goes to the global providers that the
 * application has set up. Without these, it goes nowhere.
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
