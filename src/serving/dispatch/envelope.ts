/** A request as it is dispatched, and its outcome, independent of the wire. */
import type { ClientFeatures, Log, Principal } from '../../core/context.ts';
import type { WireError } from '../../core/errors.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { Era } from '../../protocol/era.ts';
import type { RequestMessage } from '../messages.ts';
import type { Method } from './methods.ts';

/** A request with its client, its principal and its connection. */
export interface Envelope {
  readonly message: RequestMessage;
  readonly era: Era;
  readonly principal: Principal;
  /** The id of the peer: of its connection or session, if it has one. */
  readonly peer: string | undefined;
  readonly log: Log;
  /** Aborted when the client has cancelled the request, or has gone and cannot come back for the answer. */
  readonly signal: AbortSignal;
  /** The features that the client has declared, and a way to ask it. */
  readonly client: ClientFeatures;
  /** More methods for this request; they come before those of the engine with the same name. */
  readonly own?: ReadonlyMap<string, Method> | undefined;
  /** Returns the client's roots. Undefined if roots restrict nothing, or the connection does not keep them. */
  readonly roots?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Sends a notification to the client, together with this request's answer. @throws TypeError if JSON cannot express it */
  tell(notification: { readonly method: string; readonly params: object }): void;
  /** Ends the connection on which the client waits for the answer, if the client can come back for it. */
  hangUp(): void;
  /** The headers of the HTTP request; undefined over stdio. */
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly transport: NetworkTransport;
  /** The revision of the protocol, if known. */
  readonly revision: string | undefined;
  /** Names the 2025-era connection or session in telemetry; this name gives nobody access to it. */
  readonly session: string | undefined;
}

export interface Failure {
  readonly error: WireError;
  /** The error that caused the failure; undefined if the request was refused before it ran. */
  readonly cause?: unknown;
}

/** A result, the JSON of a result, or a failure. */
export type Outcome = { readonly result: object } | { readonly json: string } | Failure;
