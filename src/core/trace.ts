/** Declares the place of an operation in a trace, and passes the trace on to other servers. */

/** The names that OpenTelemetry uses: `pipe` for stdio, `tcp` for HTTP. */
export type NetworkTransport = 'pipe' | 'tcp';

/** A request to another server. */
export interface OutgoingRequest {
  readonly method: string;
  /** The name of the tool or prompt on that server. */
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  readonly mount: string;
  readonly transport: NetworkTransport;
}

/** `traceparent`, `tracestate` and `baggage`, for the `_meta` of a request (SEP-414). */
export type TraceMeta = Readonly<Record<string, string>>;

/** The place of an operation in a trace. */
export interface Trace {
  /** Runs a request to another server as a part of the trace. */
  outgoing<T>(request: OutgoingRequest, run: (meta: TraceMeta) => Promise<T>): Promise<T>;
}
