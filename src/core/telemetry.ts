/**
 * Declares what the engine and the wires report as traces and metrics. Without telemetry, this costs only a check for
 * `undefined`. These types do not depend on OpenTelemetry; `layers/telemetry` implements them with it.
 */

import type { Era } from '../protocol/era.ts';
import type { BusState } from './bus.ts';
import type { Layer } from './layer.ts';
import type { IndexState } from './ranked.ts';
import type { AnswersState } from './shared-answers/shared-answers.ts';
import type { NetworkTransport, Trace } from './trace.ts';

/** The parts of a client's request that a trace may use. They do not include its arguments. */
export interface IncomingRequest {
  readonly method: string;
  /** The id of the JSON-RPC message. */
  readonly id: string | number | undefined;
  /** The id that the log, the audit and internal errors use for this request. */
  readonly requestId: string;
  /** The checked parameters. Traces use only `name`, `uri` and `ref`. */
  readonly params: unknown;
  /** The request's `_meta`, which may name the trace that the request is a part of (SEP-414). */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** The headers of the HTTP request, which may name the trace instead. */
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly transport: NetworkTransport;
  readonly era: Era;
  /** The revision of the protocol; undefined if it is not known. */
  readonly revision: string | undefined;
  /** An identifier that distinguishes sessions, but does not give access to one. */
  readonly session: string | undefined;
}

/** The state of an engine, which is read whenever metrics are collected. */
export interface EngineState {
  /** Returns the number of open watches. */
  watches(): number;
  /** Returns the state of each mounted server. */
  upstreams(): readonly { readonly mount: string; readonly state: string }[];
  /** Returns the state of the index of ranked search; undefined without an index. */
  readonly index?: (() => IndexState | undefined) | undefined;
  /** Returns the state of the bus between replicas; undefined without a bus. */
  readonly bus?: (() => BusState) | undefined;
  /** Returns how many conversions of documents have begun; undefined if no other formats are made. */
  readonly conversions?: (() => number) | undefined;
  /** Returns the state of the shared answers; undefined if processes share none. */
  readonly answers?: (() => AnswersState) | undefined;
}

export interface Telemetry {
  /** Returns a layer that makes a span and a measurement for each operation. @param mountOf returns the mount of a published URI */
  layer(mountOf: (uri: string) => string | undefined): Layer;
  /** Runs a request of a client within a span of its own. */
  request<T>(request: IncomingRequest, run: (trace: Trace) => Promise<T>): Promise<T>;
  /** Records that a session or a stream has begun. Call the returned function when it ends. */
  opened(kind: 'session' | 'stream', transport: NetworkTransport): () => void;
  /** Reports the engine's state in metrics until the handle is disposed of. */
  engine(state: EngineState): Disposable;
}
