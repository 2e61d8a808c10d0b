/** The telemetry layer, outermost of all: OpenTelemetry traces and metrics, by the conventions for MCP. */
export type { EngineState, IncomingRequest, Telemetry } from '../../core/telemetry.ts';
export type { OutgoingRequest, Trace } from '../../core/trace.ts';
export { createTelemetry } from './create.ts';
export type { TelemetryOptions } from './instruments.ts';
export { type RunningTelemetry, startTelemetry, type TelemetrySetup } from './start.ts';
