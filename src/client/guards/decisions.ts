/** The common parts of all guards: an event for each decision, and the error of a refusal. */

/** The names of the guards. */
export type Guard = 'sampling' | 'elicitation' | 'roots' | 'tools' | 'prompts' | 'flow';

/** One decision of a guard. It may contain texts just as the server wrote them: show them with `forTerminal`. */
export interface GuardEvent {
  readonly guard: Guard;
  readonly decision: 'allowed' | 'refused' | 'changed';
  /** A word from the list in the guide. It does not change between versions. */
  readonly reason: string;
  /** The name that the host has for the server. */
  readonly server: string | undefined;
  /** The name of the tool or the prompt, the URI or the field that the decision is about. */
  readonly subject?: string;
  /** Further numbers and names, such as the limit on tokens of a model; never contents, arguments or secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The options of all guards. */
export interface GuardOptions {
  /** The name that the host has for the server: it goes into events and reviews. */
  readonly server?: string;
  /** Called with each decision before the decision takes effect. If this function throws, the decision becomes a refusal. */
  readonly onEvent?: (event: GuardEvent) => void;
}

/** The error code of the MCP specification for a request that the user rejects. */
export const USER_REJECTED = -1;
const INVALID_PARAMS = -32602;

/**
 * The error of a guard that refuses. In the 2025 era the SDK sends the error's `code` and `message` to the server. In the 2026
 * era, the call of the host during which the server asked rejects with this error. The message has only the guard and the reason.
 */
export class GuardRefusal extends Error {
  readonly guard: Guard;
  readonly reason: string;
  /** The code for JSON-RPC: -1 if there is no consent, -32602 for an invalid request. */
  readonly code: number;

  constructor(guard: Guard, reason: string, code: number = USER_REJECTED) {
    super(`Refused by the ${guard} guard: ${reason}`);
    this.name = 'GuardRefusal';
    this.guard = guard;
    this.reason = reason;
    this.code = code;
  }
}

/** Reports the decisions of one guard. All methods throw a `GuardRefusal` if the report fails. */
export interface Decisions {
  allowed(reason: string, about?: About): void;
  changed(reason: string, about?: About): void;
  /** Reports a refusal. */
  refused(reason: string, about?: About): void;
  /** Reports a refusal and throws it. */
  refuse(reason: string, about?: About & { readonly invalid?: boolean }): never;
}

interface About {
  readonly subject?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export function decisionsOf(guard: Guard, { server, onEvent }: GuardOptions): Decisions {
  function report(decision: GuardEvent['decision'], reason: string, { subject, details }: About = {}): void {
    try {
      onEvent?.({
        guard,
        decision,
        reason,
        server,
        ...(subject !== undefined && { subject: subject.slice(0, 1_000) }),
        ...(details !== undefined && { details }),
      });
    } catch {
      // A decision that cannot be recorded is a refusal.
      throw new GuardRefusal(guard, 'not-recorded');
    }
  }
  return {
    allowed: (reason, about) => report('allowed', reason, about),
    changed: (reason, about) => report('changed', reason, about),
    refused: (reason, about) => report('refused', reason, about),
    refuse(reason, about) {
      report('refused', reason, about);
      throw new GuardRefusal(guard, reason, about?.invalid === true ? INVALID_PARAMS : USER_REJECTED);
    },
  };
}

/**
 * Runs a hook of the host. If the hook throws anything but a GuardRefusal, the guard refuses, and the error's message does not
 * reach the server. Also refuses if the signal is aborted meanwhile.
 * @throws GuardRefusal `hook-failed`, `cancelled`, or the one of the hook
 */
export async function runHook<T>(decisions: Decisions, hook: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
  let answer: T;
  try {
    answer = await hook();
  } catch (error) {
    if (error instanceof GuardRefusal) throw error;
    return decisions.refuse('hook-failed');
  }
  if (signal?.aborted === true) return decisions.refuse('cancelled');
  return answer;
}
