/**
 * Types of what the engine and the ways of serving it tell of themselves, as traces and metrics. Without telemetry they
 * cost a look at `undefined`: nothing here knows OpenTelemetry, `layers/telemetry` does.
 */

import type { Era } from '../protocol/era.ts';
import type { BusState } from './bus.ts';
import type { Layer } from './layer.ts';
import type { IndexState } from './ranked.ts';
import type { AnswersState } from './shared-answers/shared-answers.ts';
import type { NetworkTransport, Trace } from './trace.ts';

/** A request of a client, as far as a trace may know it. Its arguments are not in it. */
export interface IncomingRequest {
  readonly method: string;
  /** Of the JSON-RPC message. */
  readonly id: string | number | undefined;
  /** Of the log, the audit and internal errors. */
  readonly requestId: string;
  /** Checked parameters: only `name`, `uri` and `ref` are looked at. */
  readonly params: unknown;
  /** The request's `_meta`, which may say what trace it is a part of (SEP-414). */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** Of the HTTP request that it came in, for those that say it there. */
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly transport: NetworkTransport;
  readonly era: Era;
  /** The revision of the protocol, where it is known. */
  readonly revision: string | undefined;
  /** Tells sessions apart, and lets nobody into one. */
  readonly session: string | undefined;
}

/** The state of an engine, which is read whenever metrics are. */
export interface EngineState {
  /** Watches that are open. */
  watches(): number;
  /** Mounted servers, by mount. */
  upstreams(): readonly { readonly mount: string; readonly state: string }[];
  /** The index of ranked search, where there is one. */
  readonly index?: (() => IndexState | undefined) | undefined;
  /** The bus between replicas, where there is one. */
  readonly bus?: (() => BusState) | undefined;
  /** Conversions of documents that were begun, where other formats are made. */
  readonly conversions?: (() => number) | undefined;
  /** Answers that processes share, where they do. */
  readonly answers?: (() => AnswersState) | undefined;
}

export interface Telemetry {
  /** A span and a measurement for each operation. @param mountOf the mount of a published URI */
  layer(mountOf: (uri: string) => string | undefined): Layer;
  /** Runs a request of a client within a span of its own. */
  request<T>(request: IncomingRequest, run: (trace: Trace) => Promise<T>): Promise<T>;
  /** Something that lasts has begun; to be called when it ends. */
  opened(kind: 'session' | 'stream', transport: NetworkTransport): () => void;
  /** Reads the engine's state until disposed. */
  engine(state: EngineState): Disposable;
}
