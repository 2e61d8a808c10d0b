/**
 * Limits how much runs and is held at a time. Every way of serving asks here before it begins, so that everything is counted in
 * one place: by principal, and in total (SEC-TOOL-2, SEC-RES-4).
 */
import type { Context, Principal } from './context.ts';
import { ResourceError } from './errors.ts';

/** A request, as the client made it. */
export interface AskedFor {
  /** The wire's method. */
  readonly method: string;
  /** The name of a tool or prompt, as the caller gave it. */
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
}

/** The kinds of things that are held for longer than a request lasts. */
export type Lasting = 'subscriptions' | 'sessions' | 'streams';

export interface Admission {
  /**
   * Runs a request; it counts as running until its work has settled, whether or not its caller is still there.
   * @param counted whether the request has been counted already, and only goes on: then no rate counts it again. Default: false
   * @throws ResourceError `limited`, with the name of the limit and with `retryAfterMs`, before anything has run; `unavailable`
   *   if replicas count rates together and the bus is away (`limits.without: refuse`)
   */
  run<T>(asked: AskedFor, ctx: Context, work: () => Promise<T>, counted?: boolean): Promise<T>;
  /**
   * Returns a function that counts a request which is answered without waiting. The caller calls it in the same turn, when it has
   * the answer. Undefined if the request may be over a limit: then the caller has to use `run`.
   */
  atOnce(asked: AskedFor, principal: Principal): (() => void) | undefined;
  /**
   * Counts a message for which nothing runs here, such as a ping.
   * @throws ResourceError `limited`, `unavailable` as above
   */
  count(asked: AskedFor, principal: Principal): Promise<void>;
  /**
   * Counts a subscription, session or stream. The returned function ends the count; a second call does nothing.
   * @throws ResourceError `limited`
   */
  hold(what: Lasting, principal: Principal): () => void;
  /**
   * Counts the bytes of an answer until it is sent; never refuses. The returned function ends the count; a second call does
   * nothing.
   */
  answer(bytes: number): () => void;
}

/** Makes the error for a caller over a limit. @param limit its name in the configuration @param retryAfterMs when to try again */
export const overLimit = (message: string, limit: string, retryAfterMs: number): ResourceError =>
  new ResourceError('limited', message, { details: { limit, retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) } });

/** Returns after how many milliseconds it is worth trying again; undefined if the error does not say so. */
export function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof ResourceError)) return undefined;
  const { retryAfterMs } = error.details;
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}
