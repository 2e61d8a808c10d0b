/** On whose behalf, and until when, an operation runs. Every provider and layer method gets one. */
import { setMaxListeners } from 'node:events';
import type { InputRequest } from '../protocol/input-required.ts';
import type { AccessOperation, Decided } from './decided.ts';
import type { AnswerNotes } from './notes.ts';
import type { Trace } from './trace.ts';

/** Who asks. `anonymous` until a transport has verified somebody. */
export interface Principal {
  /** Stable and unique within the server; cursors and watches are bound to it. */
  readonly id: string;
  /** Who it is, as the issuer calls them. */
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
  /** Log messages that it wants are of this level or above; undefined where it has not said. */
  readonly logLevel?: LoggingLevel | undefined;
  /**
   * Asks it while the request is running, which works in the 2025 era; elsewhere a question is an answer (`InputRequired`).
   * @param reports lets the client say that it is still at it, which gives it more time
   * @throws what the client answers with when it refuses
   */
  readonly ask?: ((request: InputRequest, signal: AbortSignal, reports?: boolean) => Promise<unknown>) | undefined;
}

/** @param uri a provider's own, or in layers a published one */
export type May = (operation: AccessOperation, uri: string) => boolean | Promise<boolean>;

/** The latest round of an operation that had to ask the client. */
export interface Round {
  /** The client's answers by key: its word, to be validated. */
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
  /** The client's roots as they were when the operation began; undefined where the client has not said (SEC-ROOT-2). */
  readonly roots?: readonly string[] | undefined;
  /** The client that asks; undefined where nothing is known of it. */
  readonly client?: ClientFeatures | undefined;
  /** The operation that a description is wanted for, where it is another one: then access to that one is decided. */
  readonly purpose?: Exclude<AccessOperation, 'metadata'> | undefined;
  /**
   * A watch of a folder tells of changes of the resources in it, too, by their URIs: of providers whose features say
   * `watchesInside`. Default: only of its set of children.
   */
  readonly inside?: boolean | undefined;
  /**
   * Whether the caller may have this: for what one resource tells of others, such as the rows of a page. Undefined where
   * everything may be had, and for providers that do not `gather`.
   */
  readonly may?: May | undefined;
  /** Is told what was decided about this operation. */
  readonly decided?: ((decided: Decided) => void) | undefined;
  /**
   * Takes what is done when it is certain that there is an answer, of which this operation is a part: the other parts may
   * still say that they would not be given again. Undefined: it is certain.
   */
  readonly onceCertain?: ((done: () => void) => void) | undefined;
  /** The trace that the operation is a part of; undefined where there is none. */
  readonly trace?: Trace | undefined;
  /** Takes what is to be said of the answer as a whole. */
  readonly notes?: AnswerNotes | undefined;
  /** Answers to what was asked before, when an operation runs again with them. */
  readonly round?: Round | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** The same operation under another signal, to which many may listen at once, too. */
export function withSignal(ctx: Context, signal: AbortSignal): Context {
  setMaxListeners(0, signal);
  return Object.freeze({ ...ctx, signal });
}

/** Makes a frozen context; what is left out is anonymous, silent and never aborted. */
export function createContext(parts: Partial<Context> = {}): Context {
  const signal = parts.signal ?? new AbortController().signal;
  // Each operation of a request listens to it while it runs, and there may be many at once: no leak to be warned of.
  setMaxListeners(0, signal);
  return Object.freeze({
    principal: parts.principal ?? ANONYMOUS,
    signal,
    requestId: parts.requestId ?? crypto.randomUUID(),
    log: parts.log ?? SILENT,
    peer: parts.peer ?? (parts.principal ?? ANONYMOUS).id,
    confirmed: parts.confirmed ?? NONE,
    // Each key, whether there is something to say or not: contexts that are made alike are quick to copy.
    refused: parts.refused,
    roots: parts.roots,
    client: parts.client,
    purpose: parts.purpose,
    may: parts.may,
    decided: parts.decided,
    onceCertain: parts.onceCertain,
    trace: parts.trace,
    notes: parts.notes,
    round: parts.round,
  });
}
