/** The common parts of all guards: an event for each decision, and one error for what it refuses. */

export type Guard = 'sampling' | 'elicitation' | 'roots' | 'tools' | 'prompts' | 'flow';

/** One decision of a guard. Texts of the server in it are as the server wrote them: show them with `forTerminal`. */
export interface GuardEvent {
  readonly guard: Guard;
  readonly decision: 'allowed' | 'refused' | 'changed';
  /** A word that does not change between versions, as the guide lists them. */
  readonly reason: string;
  /** The name that the host has for the server. */
  readonly server: string | undefined;
  /** The name of the tool or the prompt, the URI or the field that it was about. */
  readonly subject?: string;
  /** Numbers and names beside it, such as tokens; never contents, arguments or secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface GuardOptions {
  /** The name that the host has for the server: it goes into events and reviews. */
  readonly server?: string;
  /** Told of each decision before it takes effect. When it throws, the decision is a refusal. */
  readonly onEvent?: (event: GuardEvent) => void;
}

/** The code that the MCP specification has for a user who says no. */
export const USER_REJECTED = -1;
const INVALID_PARAMS = -32602;

/**
 * The error of a guard that refuses. In the 2025 era the SDK sends its `code` and `message` to the server; in the 2026 era
 * the call that asked fails with it. It never says more than the reason.
 */
export class GuardRefusal extends Error {
  readonly guard: Guard;
  readonly reason: string;
  /** For JSON-RPC: -1 for what was not agreed to, -32602 for what is not valid. */
  readonly code: number;

  constructor(guard: Guard, reason: string, code: number = USER_REJECTED) {
    super(`Refused by the ${guard} guard: ${reason}`);
    this.name = 'GuardRefusal';
    this.guard = guard;
    this.reason = reason;
    this.code = code;
  }
}

export interface Decisions {
  allowed(reason: string, about?: About): void;
  changed(reason: string, about?: About): void;
  /** Tells of it. */
  refused(reason: string, about?: About): void;
  /** Tells of it and throws. */
  refuse(reason: string, about?: About & { readonly invalid?: boolean }): never;
}

interface About {
  readonly subject?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export function decisionsOf(guard: Guard, { server, onEvent }: GuardOptions): Decisions {
  function tell(decision: GuardEvent['decision'], reason: string, { subject, details }: About = {}): void {
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
    allowed: (reason, about) => tell('allowed', reason, about),
    changed: (reason, about) => tell('changed', reason, about),
    refused: (reason, about) => tell('refused', reason, about),
    refuse(reason, about) {
      tell('refused', reason, about);
      throw new GuardRefusal(guard, reason, about?.invalid === true ? INVALID_PARAMS : USER_REJECTED);
    },
  };
}

/** Runs a hook of the host: an error of it is a refusal, and its words do not reach the server. */
export async function asked<T>(decisions: Decisions, hook: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
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
