/** The telemetry layer, outermost of all: OpenTelemetry traces and metrics, by the conventions for MCP. */
export type { EngineState, IncomingRequest, OutgoingRequest, Telemetry, Trace } from '../../core/telemetry.ts';
export { createTelemetry } from './create.ts';
export type { TelemetryOptions } from './instruments.ts';
export { type RunningTelemetry, startTelemetry, type TelemetrySetup } from './start.ts';
