/** Limits of one connection, and of all connections together. They apply before a client has authenticated. */

export interface ConnectionLimits {
  /** The most connections at a time; a further one is closed at once. Default: 4,096, or more if there may be more sessions and streams. */
  readonly maxConnections: number;
  /**
   * The most connections of one address at a time; for IPv6, of a /64 network. Default: 256, and no limit for addresses of this
   * machine, because all clients behind a proxy have such an address. A given number applies to this machine, too.
   */
  readonly maxConnectionsPerAddress: number | undefined;
  /** How long the headers of a request, or a TLS handshake, may take to arrive, in milliseconds. */
  readonly headersMs: number;
  /** How long a whole request may take to arrive, its body included, in milliseconds. */
  readonly requestMs: number;
  /** How long a connection may stay open without a request, in milliseconds. */
  readonly keepAliveMs: number;
  /** How long sent bytes may wait until the client takes them, in milliseconds. After that the connection is cut. */
  readonly unreadMs: number;
  /**
   * The most bytes of one event stream that may wait until the client takes them. With more, the connection is cut. A single
   * message may be longer if nothing else waits.
   */
  readonly maxUnreadBytes: number;
  /** The most bytes of all headers of a request; a request with more is answered with 431. */
  readonly maxHeaderBytes: number;
  /** The most headers of a request; a request with more is answered with 431. */
  readonly maxHeaders: number;
  /** The most requests that a client may send over one connection before it gets their answers. With more, the connection is cut. */
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

/** Room for short requests, in addition to the connections that sessions and streams hold. */
const ROOM = 2_048;

/** The default of `maxConnections`: enough for all sessions and streams that may be open, and room for short requests. */
export const connectionsFor = ({ maxSessions, maxStreams }: { maxSessions: number; maxStreams: number }): number =>
  Math.max(DEFAULT_CONNECTION_LIMITS.maxConnections, maxSessions + maxStreams + ROOM);

/** The default limit for one address of another machine. */
export const MAX_PER_REMOTE_ADDRESS = 256;
