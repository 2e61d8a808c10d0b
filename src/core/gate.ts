/**
 * What surrounds operations that are no provider's: tools, prompts, and subscriptions, which share watches. Layers go
 * around the provider, a gate around all the rest, so that a record or a decision misses neither.
 */
import type { Context } from './context.ts';

/** An operation, and what it is about. Values of arguments are not in it. */
export interface GatedOperation {
  readonly method: 'subscribe' | 'tools/list' | 'tools/call' | 'prompts/list' | 'prompts/get' | 'prompts/complete';
  /** Of a tool or prompt, as the caller said it; of what is subscribed to, where it has no URI. */
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  /** Whose tool or prompt it is, where it is a mounted server's. */
  readonly mount?: string | undefined;
}

/** Runs an operation, or refuses to. */
export type Gate = <T>(operation: GatedOperation, ctx: Context, run: () => Promise<T>) => Promise<T>;

/** Lets everything pass. */
export const OPEN_GATE: Gate = (_operation, _ctx, run) => run();
