/** One request on its way in, and what it comes to, whatever wire it is on. */
import type { ClientFeatures, Log, Principal } from '../../core/context.ts';
import type { WireError } from '../../core/errors.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { Era } from '../../protocol/era.ts';
import type { RequestMessage } from '../messages.ts';
import type { Method } from './methods.ts';

/** A request, and all that is to be known of where it came from. */
export interface Envelope {
  readonly message: RequestMessage;
  readonly era: Era;
  readonly principal: Principal;
  /** The id that keeps the peers apart: of a connection or session where there is one. */
  readonly peer: string | undefined;
  readonly log: Log;
  /** Aborted when the client has cancelled, or is gone and cannot come back. */
  readonly signal: AbortSignal;
  /** The client, as it has declared itself, and how it is asked. */
  readonly client: ClientFeatures;
  /** Methods of this connection alone. */
  readonly own?: ReadonlyMap<string, Method> | undefined;
  /** The client's roots, where they bound something and the connection keeps them. */
  readonly roots?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** Sends a notification on the way of this request. @throws what JSON cannot say */
  tell(notification: { readonly method: string; readonly params: object }): void;
  /** Ends the connection on which the client waits, where it can come back for the answer. */
  hangUp(): void;
  /** Of the HTTP request that it came in. */
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly transport: NetworkTransport;
  /** The revision of the protocol, where it is known. */
  readonly revision: string | undefined;
  /** Tells 2025-era connections apart, and lets nobody into one. */
  readonly session: string | undefined;
}

export interface Failure {
  readonly error: WireError;
  /** The error that caused it; undefined where nothing has run. */
  readonly cause?: unknown;
}

/** A result, or the JSON of one that is written already. */
export type Outcome = { readonly result: object } | { readonly json: string } | Failure;
