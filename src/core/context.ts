/** The context of an operation: on whose behalf, and until when, it runs. Every method of a provider or layer gets one. */
import { setMaxListeners } from 'node:events';
import type { InputRequest } from '../protocol/input-required.ts';
import type { AccessOperation, Decided } from './decided.ts';
import type { AnswerNotes } from './notes.ts';
import type { Trace } from './trace.ts';

/** The caller. It is `anonymous` until a transport has verified its identity. */
export interface Principal {
  /** Stable and unique within the server; cursors and watches are bound to it. */
  readonly id: string;
  /** The name of the subject at the issuer. */
  readonly subject?: string | undefined;
  /** The authorization server that vouches for the subject. */
  readonly issuer?: string | undefined;
  /** The OAuth client that acts for the subject. */
  readonly clientId?: string | undefined;
  /** The scopes that the client was granted. */
  readonly scopes?: readonly string[] | undefined;
  /** Groups that the subject is in, as the issuer says. */
  readonly groups?: readonly string[] | undefined;
}

export const ANONYMOUS: Principal = Object.freeze({ id: 'anonymous' });

/** Takes an operation's messages for the server's own log; no peer gets them. */
export interface Log {
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
}

const ignore = (): void => {};

/** A log that keeps nothing. */
export const SILENT: Log = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore });

export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** The features of the client that makes a request: what it can be asked for (SEC-SAMP-2). */
export interface ClientFeatures {
  readonly elicitation: boolean;
  readonly sampling: boolean;
  readonly roots: boolean;
  /** Its capabilities as it declared them. */
  readonly declared?: Readonly<Record<string, unknown>> | undefined;
  /** The lowest level of log messages that the client wants; undefined if it has not set one. */
  readonly logLevel?: LoggingLevel | undefined;
  /**
   * Asks the client while the request is running, which works in the 2025 era. In the 2026 era, the question is the answer to
   * the request (`InputRequired`).
   * @param reports lets the client report progress, which gives it more time
   * @throws the client's error if it refuses
   */
  readonly ask?: ((request: InputRequest, signal: AbortSignal, reports?: boolean) => Promise<unknown>) | undefined;
}

/** Whether the caller may do an operation. @param uri the provider's own URI, or in layers the published one */
export type May = (operation: AccessOperation, uri: string) => boolean | Promise<boolean>;

/** The latest round of an operation that had to ask the client. */
export interface Round {
  /** The client's answers by key. They can be anything: validate them. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The state that was sent along with the question. */
  readonly state: unknown;
}

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
  /** The URIs to be read that a human has confirmed for this request, and the keys of other questions. */
  readonly confirmed: ReadonlySet<string>;
  /** The same for what a human has refused for this request. */
  readonly refused?: ReadonlySet<string> | undefined;
  /** The client's roots as they were when the operation began; undefined if the client has not sent them (SEC-ROOT-2). */
  readonly roots?: readonly string[] | undefined;
  /** The client that sent the request; undefined if nothing is known about it. */
  readonly client?: ClientFeatures | undefined;
  /** The operation for which metadata is wanted, if it is not `metadata` itself: access to that operation is decided then. */
  readonly purpose?: Exclude<AccessOperation, 'metadata'> | undefined;
  /**
   * Whether a watch of a folder also reports changes of the resources in it, by their URIs, at providers whose features have
   * `watchesInside`. Default: it reports only changes of its list of children.
   */
  readonly inside?: boolean | undefined;
  /**
   * Tells whether the caller may see a resource that another one shows, such as a row of a page. Undefined if the caller may see
   * everything, and for providers that do not gather (`gathers` in their features).
   */
  readonly may?: May | undefined;
  /** Called with the decision about this operation. */
  readonly decided?: ((decided: Decided) => void) | undefined;
  /**
   * Takes a function that is called once it is certain that an earlier answer is given again. The answer may have several parts,
   * and this operation (`again` or `listAgain`) is asked about one of them; the others may still say no. Undefined if there is
   * only one part.
   */
  readonly onceCertain?: ((done: () => void) => void) | undefined;
  /** The trace that the operation is a part of; undefined where there is none. */
  readonly trace?: Trace | undefined;
  /** Takes notes about the answer as a whole. */
  readonly notes?: AnswerNotes | undefined;
  /** The client's answers to earlier questions, when an operation runs again with them. */
  readonly round?: Round | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the context with another signal, to which any number of listeners may listen at once. */
export function withSignal(ctx: Context, signal: AbortSignal): Context {
  setMaxListeners(0, signal);
  return Object.freeze({ ...ctx, signal });
}

/** Makes a frozen context; what is left out is anonymous, silent and never aborted. */
export function createContext(parts: Partial<Context> = {}): Context {
  const signal = parts.signal ?? new AbortController().signal;
  // Many operations of a request may listen to its signal at once. This is no leak, so Node.js must not warn about one.
  setMaxListeners(0, signal);
  return Object.freeze({
    principal: parts.principal ?? ANONYMOUS,
    signal,
    requestId: parts.requestId ?? crypto.randomUUID(),
    log: parts.log ?? SILENT,
    peer: parts.peer ?? (parts.principal ?? ANONYMOUS).id,
    confirmed: parts.confirmed ?? NONE,
    // Keys are set even if they are undefined, since objects of the same shape are quick to copy.
    refused: parts.refused,
    roots: parts.roots,
    client: parts.client,
    purpose: parts.purpose,
    inside: parts.inside,
    may: parts.may,
    decided: parts.decided,
    onceCertain: parts.onceCertain,
    trace: parts.trace,
    notes: parts.notes,
    round: parts.round,
    // Every field is named, so that none is dropped.
  } satisfies Record<keyof Context, unknown>);
}
