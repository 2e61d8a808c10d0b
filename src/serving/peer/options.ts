/** The options of a peer, and the way that a message and its answers take. */
import type { Log, Principal } from '../../core/context.ts';
import type { ClientFeatures } from '../../core/invocation.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { Engine } from '../../engine/index.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { SharedPart } from './shared-part.ts';

export interface PeerOptions {
  readonly engine: Engine;
  readonly dispatcher: Dispatcher;
  readonly log: Log;
  readonly principal: Principal;
  readonly transport: NetworkTransport;
  /** The shared part of the session, if replicas share it. */
  readonly shared?: SharedPart | undefined;
  /** Whether another replica has begun the session. Default: false. */
  readonly resumed?: boolean | undefined;
  /** Sends a message that belongs to no request. */
  readonly tell: (message: object) => void;
  /** Called once with the features of the client. The answer to its first request waits for this. */
  readonly introduced?: ((client: ClientFeatures) => Promise<void>) | undefined;
}

/** How a message came, and how messages about it go back. */
export interface Way {
  readonly principal: Principal;
  readonly headers?: Pick<Headers, 'get'> | undefined;
  readonly send: (message: object) => void;
  /** Ends the connection on which the client waits for the answer, if the client can come back for it. */
  readonly hangUp?: (() => void) | undefined;
}
