/** A peer is made with these options, and answers each message on the way on which it came. */
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
  /** The session, where replicas share it; with `resumed` it has been begun elsewhere. */
  readonly shared?: SharedPart | undefined;
  readonly resumed?: boolean | undefined;
  /** Sends what belongs to no request. */
  readonly tell: (message: object) => void;
  /** Told once who the client is, before its first request is answered; that waits for it. */
  readonly introduced?: ((client: ClientFeatures) => Promise<void>) | undefined;
}

/** How a message came, and what goes back on its way. */
export interface Way {
  readonly principal: Principal;
  readonly headers?: Pick<Headers, 'get'> | undefined;
  readonly send: (message: object) => void;
  /** Ends the connection on which the client waits, where it can come back. */
  readonly hangUp?: (() => void) | undefined;
}
