/** Keeps the answers of humans, for as long as a rule lets them be remembered. */

import { principalKey } from '../../core/access.ts';
import { ANONYMOUS, type Context } from '../../core/context.ts';
import { createLru } from '../../core/lru.ts';

/** Answers that are kept; the one that was needed longest ago goes first, and is asked for again. */
export const MAX_CONSENTS = 10_000;

export interface Consents {
  /** Returns the answer that came with this request, or an earlier one that is kept. */
  of(key: string, ctx: Context): 'yes' | 'no' | undefined;
  /** Keeps what this request knows. @param ms how long */
  keep(key: string, ctx: Context, ms: number): void;
}

export function createConsents(): Consents {
  const kept = createLru<string, 'yes' | 'no'>(MAX_CONSENTS);
  return {
    of: (key, ctx) => saidNow(key, ctx) ?? (isShared(ctx) ? undefined : kept.get(ownKey(key, ctx))),
    keep(key, ctx, ms) {
      const said = saidNow(key, ctx);
      if (said !== undefined && ms > 0 && !isShared(ctx)) kept.set(ownKey(key, ctx), said, { ttl: ms });
    },
  };
}

function saidNow(key: string, ctx: Context): 'yes' | 'no' | undefined {
  if (ctx.confirmed.has(key)) return 'yes';
  return ctx.refused?.has(key) === true ? 'no' : undefined;
}

/** Nobody knows who it is, and no connection tells one from another: an answer is good for its request alone. */
const isShared = ({ principal, peer }: Context): boolean => principal.id === ANONYMOUS.id && peer === ANONYMOUS.id;

const ownKey = (key: string, { principal, peer }: Context): string =>
  JSON.stringify([principalKey(principal), peer, key]);
