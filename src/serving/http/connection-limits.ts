/** Limits on the cost of one connection, and of all together, before it is known who is at the other end. */

export interface ConnectionLimits {
  /** Connections at a time; one more is closed at once. Default: 4,096, and more where sessions and streams may be more. */
  readonly maxConnections: number;
  /**
   * Connections of one address at a time, of a /64 network where it is IPv6. Default: 256, and no limit for this
   * machine, since all clients of a proxy come from there. A number that is given counts for this machine, too.
   */
  readonly maxConnectionsPerAddress: number | undefined;
  /** How long the headers of a request may take to arrive, and the handshake of TLS, in milliseconds. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive, its body included, in milliseconds. */
  readonly requestMs: number;
  /** How long a connection may stay open without a request, in milliseconds. */
  readonly keepAliveMs: number;
  /** How long bytes that were sent may wait until the client takes them, in milliseconds. Then the connection is cut. */
  readonly unreadMs: number;
  /**
   * Bytes of one event stream that may wait until the client takes them; one message that is longer goes out when
   * nothing else waits. Then the connection is cut.
   */
  readonly maxUnreadBytes: number;
  /** Bytes of all headers of a request; one with more is answered with 431. */
  readonly maxHeaderBytes: number;
  /** Headers of a request; one with more is answered with 431. */
  readonly maxHeaders: number;
  /** Requests that a connection may send ahead, before their answers. Then it is cut. */
  readonly maxPipelined: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 4_096,
  maxConnectionsPerAddress: undefined,
  headersMs: 20_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  unreadMs: 60_000,
  maxUnreadBytes: 16 * 1024 * 1024,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 100,
  maxPipelined: 16,
};

/** Connections for requests of their own, beside those that sessions and streams hold. */
const ROOM = 2_048;

/** As many connections as sessions and streams at their limits take, and room for requests; at least the default. */
export const connectionsFor = ({ maxSessions, maxStreams }: { maxSessions: number; maxStreams: number }): number =>
  Math.max(DEFAULT_CONNECTION_LIMITS.maxConnections, maxSessions + maxStreams + ROOM);

/** The most connections of one address that is not of this machine, where no number is given. */
export const MAX_PER_REMOTE_ADDRESS = 256;
