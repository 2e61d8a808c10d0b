/** One operation, from its beginning until its audit line is written: who, what, when, and how it ended (RES-9). */

import type { Context, Principal } from '../../core/context.ts';
import type { Decided } from '../../core/decided.ts';
import { ResourceError } from '../../core/errors.ts';
import { isInputRequired } from '../../protocol/input-required.ts';

/** The target of an operation. */
export interface Target {
  readonly method: string;
  readonly uri?: string | undefined;
  readonly name?: string | undefined;
  readonly mount?: string | undefined;
  /** The number of equal operations that it stands for; undefined for one. */
  readonly times?: number | undefined;
}

/** The facts for its audit line, which is written later. They have no contents, argument values or tokens. */
export interface Operation extends Target {
  readonly requestId: string;
  readonly principal: Principal;
  readonly peer: string;
  /** When it began, in milliseconds since 1970. */
  readonly time: number;
  /** When it began, on the monotonic clock. */
  readonly began: number;
  /** Whether it was allowed, or why it was not. */
  decided: Decided;
  /** How long it took, in whole microseconds. */
  micros: number;
  /** The bytes of content that a read returned. */
  bytes: number | undefined;
  /** Empty while it runs. */
  outcome: string;
}

const ALLOWED: Decided = { effect: 'allow', rule: '' };

/** Starts the clock for one operation. */
export function operationOf({ method, uri, name, mount, times }: Target, ctx: Context): Operation {
  const { requestId, principal, peer } = ctx;
  return {
    method,
    uri,
    name,
    mount,
    times,
    requestId,
    principal,
    peer,
    time: Date.now(),
    began: performance.now(),
    decided: ALLOWED,
    micros: 0,
    bytes: undefined,
    outcome: '',
  };
}

/** Returns the context for running the operation. It records what the policy decides. */
export function within<C extends Context>(operation: Operation, ctx: C): C {
  const decided = (by: Decided): void => {
    if (operation.outcome === '') operation.decided = by;
  };
  return { ...ctx, decided };
}

/** Stops the clock. */
export function ended(operation: Operation, outcome: string, bytes?: number): Operation {
  operation.micros = Math.round((performance.now() - operation.began) * 1_000);
  operation.bytes = bytes;
  operation.outcome = outcome;
  return operation;
}

/** Returns the outcome of a result: a tool reports failures in its results, and a question is not yet an answer. */
export function outcomeOfResult(result: unknown): string {
  if (typeof result !== 'object' || result === null) return 'ok';
  if (isInputRequired(result)) return 'input-required';
  return 'isError' in result && result.isError === true ? 'failed' : 'ok';
}

/** Returns the outcome of an error: its code if it has one, else `cancelled` if the caller had left, else `internal`. */
export function outcomeOfError(error: unknown, ctx: Context): string {
  if (error instanceof ResourceError) return error.code;
  return ctx.signal.aborted ? 'cancelled' : 'internal';
}
