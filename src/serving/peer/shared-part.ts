/** The part of a 2025-era session that replicas share. Any replica may answer its requests, and one replica has its stream. */

import type { LoggingLevel } from '../../core/invocation.ts';
import type { Data } from '../../protocol/data.ts';

export interface SharedPart {
  /** The id of the session, the same in all replicas. */
  readonly id: string;
  /** The protocol revision and the client's capabilities, from the handshake. */
  readonly claims: { readonly revision: string; readonly capabilities: Data | undefined };
  /** The log level that the client has set, at any replica. */
  readonly level: LoggingLevel | undefined;
  /** Passes a message of the client on to the other replicas, one of which waits for it. */
  said(message: object): void;
  /** Passes a message for the client on to the replica that has its stream. */
  tell(message: object): void;
  /** The URIs that the session subscribes to. @throws ResourceError `unavailable` */
  subscriptions(): Promise<readonly string[]>;
  /** Notes a subscription for all replicas. @throws ResourceError `unavailable`, `limited` */
  subscribe(uri: string): Promise<void>;
  /** Removes a subscription for all replicas. @throws ResourceError `unavailable` */
  unsubscribe(uri: string): Promise<void>;
  /** Sets the log level for all replicas. @throws ResourceError `unavailable` */
  setLevel(level: LoggingLevel): Promise<void>;
}

/** Callbacks for what other replicas have done with the session. */
export interface SharedPartEvents {
  subscribed(uri: string): void;
  unsubscribed(uri: string): void;
  levelSet(level: LoggingLevel): void;
  /** Called when some of these calls may have been missed. */
  mended(): void;
}
