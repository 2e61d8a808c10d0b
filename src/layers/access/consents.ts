/** Remembers the answers of humans for as long as a rule allows. */
import { principalKey } from '../../core/access.ts';
import { ANONYMOUS, type Context } from '../../core/context.ts';
import { createLru } from '../../core/lru.ts';

/** The most answers that are kept. A further one replaces the least recently used, whose question is then asked again. */
export const MAX_CONSENTS = 10_000;

export interface Consents {
  /** Returns the answer that came with this request, or a remembered one. */
  of(key: string, ctx: Context): 'yes' | 'no' | undefined;
  /** Remembers the answer that came with this request, for `ms` milliseconds. */
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

/** Anonymous callers without a connection cannot be told apart, so an answer counts only for its own request. */
const isShared = ({ principal, peer }: Context): boolean => principal.id === ANONYMOUS.id && peer === ANONYMOUS.id;

const ownKey = (key: string, { principal, peer }: Context): string =>
  JSON.stringify([principalKey(principal), peer, key]);
