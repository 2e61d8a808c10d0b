/**
 * How much may be asked for at a time. Every way of serving asks here before it begins with something, so that there is
 * one count of it: by principal, and in total (SEC-TOOL-2, SEC-RES-4).
 */
import type { Context, Principal } from './context.ts';
import { ResourceError } from './errors.ts';

/** A request, as the client made it. */
export interface AskedFor {
  /** The wire's method. */
  readonly method: string;
  /** Of a tool or prompt, as the caller said it. */
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
}

/** The kinds of things that are held for longer than a request lasts. */
export type Lasting = 'subscriptions' | 'sessions' | 'streams';

export interface Admission {
  /**
   * Runs a request; it counts as running until its work has settled, whether or not its caller is still there.
   * @throws ResourceError `limited`, with the name of the limit and with `retryAfterMs`, before anything has run
   */
  run<T>(asked: AskedFor, ctx: Context, work: () => Promise<T>): Promise<T>;
  /**
   * Gives a function that counts a request. The caller calls it in the same turn, once it has an answer at once. Undefined
   * where the request may be over a limit: then it has to `run`.
   */
  atOnce(asked: AskedFor, principal: Principal): (() => void) | undefined;
  /**
   * Counts a message for which nothing runs here, such as a ping.
   * @throws ResourceError `limited`
   */
  count(asked: AskedFor, principal: Principal): Promise<void>;
  /**
   * Takes one of what lasts; what is returned gives it back, once.
   * @throws ResourceError `limited`
   */
  hold(what: Lasting, principal: Principal): () => void;
  /** Memory that is taken by an answer until it is sent, in bytes; never refused. What is returned gives it back, once. */
  answer(bytes: number): () => void;
}

/** Who is over a limit. @param limit its name, as in the configuration @param retryAfterMs when it is worth trying again */
export const overLimit = (message: string, limit: string, retryAfterMs: number): ResourceError =>
  new ResourceError('limited', message, { details: { limit, retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) } });

/** When it is worth trying again, in milliseconds; undefined where an error does not say so. */
export function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof ResourceError)) return undefined;
  const { retryAfterMs } = error.details;
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
}
