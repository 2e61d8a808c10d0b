/** On whose behalf, and until when, an operation runs. Every provider and layer method gets one. */

/** Who asks. `anonymous` until a transport has verified somebody. */
export interface Principal {
  /** Stable and unique within the server; cursors and watches are bound to it. */
  readonly id: string;
}

export const ANONYMOUS: Principal = Object.freeze({ id: 'anonymous' });

/** Where an operation says what happened. Goes to the server's own log, never to a peer. */
export interface Log {
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
}

const ignore = (): void => {};

/** A log that keeps nothing. */
export const SILENT: Log = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore });

export interface Context {
  readonly principal: Principal;
  /** Aborted when the caller is gone, has cancelled, or has run out of time. Every method honours it. */
  readonly signal: AbortSignal;
  /** The same id stands in the log and in an internal error's `data`. */
  readonly requestId: string;
  readonly log: Log;
  /**
   * Which peer asks: a stdio connection or a 2025-era session, and where the protocol knows no connection, the
   * principal. State that belongs to one peer, such as its subscriptions, is kept under it.
   */
  readonly peer: string;
  /** URIs whose reading a human has confirmed for this request. */
  readonly confirmed: ReadonlySet<string>;
  /** The client's roots as they were when the operation began; undefined where the client has not said (SEC-ROOT-2). */
  readonly roots?: readonly string[] | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** Makes a frozen context; what is left out is anonymous, silent and never aborted. */
export function createContext(parts: Partial<Context> = {}): Context {
  return Object.freeze({
    principal: parts.principal ?? ANONYMOUS,
    signal: parts.signal ?? new AbortController().signal,
    requestId: parts.requestId ?? crypto.randomUUID(),
    log: parts.log ?? SILENT,
    peer: parts.peer ?? (parts.principal ?? ANONYMOUS).id,
    confirmed: parts.confirmed ?? NONE,
    ...(parts.roots !== undefined && { roots: parts.roots }),
  });
}
