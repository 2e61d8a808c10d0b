/** The context of tools, prompts and reads, which can also reach the client while the request is running. */

import type { ClientFeatures, Context, LoggingLevel } from './context.ts';
import { keyed } from './keyed.ts';

export type { ClientFeatures, LoggingLevel } from './context.ts';

/** Further fields of a notification, `_meta` among them, as another server sent them. */
export type OtherFields = Readonly<Record<string, unknown>>;

export interface Invocation extends Context {
  readonly client: ClientFeatures;
  /**
   * Reports progress if the client asked for it. Values that do not increase are left out, and so are reports that
   * follow each other too fast (SEC-UTIL-3). Never put data of a resource into the message.
   */
  progress(progress: number, total?: number, message?: string, others?: OtherFields): void;
  /** Whether the client asked for reports of progress. */
  readonly wantsProgress: boolean;
  /**
   * Sends a log message to the client if its level is the one that the client asked for, or above. Texts are scrubbed, and the
   * number of messages for each request is limited (SEC-UTIL-4).
   * @param logger the name of the logger; this server by default, none for null
   */
  notify(level: LoggingLevel, data: unknown, logger?: string | null, others?: OtherFields): void;
  /**
   * Ends the connection on which the client waits, for work that takes long. The work goes on, and the client comes back for
   * the answer. Works over HTTP with `resume`, and does nothing elsewhere.
   */
  hangUp(): void;
  /**
   * The client's answers to the questions of the latest round, by key, without a prototype. Validate them: they can be anything.
   */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The state that `seal` was given in the latest round, or undefined in the first. Altered state never gets here. */
  readonly state: unknown;
  /** Turns JSON data into a `requestState`: encrypted, bound to the principal and this request, expiring. */
  seal(state: unknown): string;
}

const ignore = (): void => {};

/** Makes an invocation for an operation without a client: nobody gets its reports, and there are no answers. */
export function detached(ctx: Context): Invocation {
  return {
    ...ctx,
    client: { elicitation: false, sampling: false, roots: false },
    progress: ignore,
    wantsProgress: false,
    notify: ignore,
    hangUp: ignore,
    answers: keyed(undefined),
    state: undefined,
    seal: () => {
      throw new Error('A request without a client has no state to seal');
    },
  };
}
