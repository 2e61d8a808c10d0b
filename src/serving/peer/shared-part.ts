/** The part of a peer that replicas share, for a session of which any may take its requests, and one has its stream. */

import type { LoggingLevel } from '../../core/invocation.ts';
import type { Data } from '../../protocol/data.ts';

export interface SharedPart {
  /** Names the session among replicas. */
  readonly id: string;
  readonly claims: { readonly revision: string; readonly capabilities: Data | undefined };
  /** The log level that the client has set, in whichever replica. */
  readonly level: LoggingLevel | undefined;
  /** Gives what the client has said to the replica that waits for it. */
  said(message: object): void;
  /** Gives a message for the client to the replica that has its stream. */
  tell(message: object): void;
  /** The URIs that are subscribed to. @throws ResourceError `unavailable` */
  subscriptions(): Promise<readonly string[]>;
  /** Notes a subscription, for all replicas. @throws ResourceError `unavailable`, `limited` */
  subscribe(uri: string): Promise<void>;
  /** @throws ResourceError `unavailable` */
  unsubscribe(uri: string): Promise<void>;
  /** @throws ResourceError `unavailable` */
  setLevel(level: LoggingLevel): Promise<void>;
}

/** Told what other replicas have done with the session. */
export interface SharedPartEvents {
  subscribed(uri: string): void;
  unsubscribed(uri: string): void;
  levelSet(level: LoggingLevel): void;
  /** Some of that may not have been heard. */
  mended(): void;
}
