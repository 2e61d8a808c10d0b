/**
 * What surrounds operations that are no provider's: tools, prompts, and subscriptions, which share watches. Layers go
 * around the provider, a gate around all the rest, so that a record or a decision misses neither.
 */
import type { Context } from './context.ts';

/** An operation, and what it is about. */
export interface GatedOperation {
  readonly method: 'subscribe' | 'tools/list' | 'tools/call' | 'prompts/list' | 'prompts/get' | 'prompts/complete';
  /** Of a tool or prompt, as the caller said it; of what is subscribed to, where it has no URI. */
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  /** Whose tool or prompt it is, where it is a mounted server's. */
  readonly mount?: string | undefined;
  /** Of a call or prompt, unchecked, for what decides by them; they are never recorded. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Of a mounted server's tool or prompt: whether it is there. @throws what listing them throws */
  readonly exists?: (() => Promise<boolean>) | undefined;
  /** The tool is one of the resource tools: each resource that it touches is asked about by itself. */
  readonly onlyResources?: boolean | undefined;
}

/** Runs an operation with the context, or one made of it; or refuses to. */
export type Gate = <T, C extends Context>(operation: GatedOperation, ctx: C, run: (ctx: C) => Promise<T>) => Promise<T>;

/** Lets everything pass. */
export const OPEN_GATE: Gate = (_operation, ctx, run) => run(ctx);

/** Gates in one, the outermost first. */
export function gates(all: readonly Gate[]): Gate {
  const [outer, ...inner] = all;
  if (outer === undefined) return OPEN_GATE;
  if (inner.length === 0) return outer;
  const within = gates(inner);
  return (operation, ctx, run) => outer(operation, ctx, (own) => within(operation, own, run));
}
