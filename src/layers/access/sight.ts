/** What a caller sees: which tools and prompts are listed, and which mounts are spoken of. */
import type { AccessPolicy, Sight } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import type { Decisions } from './decisions.ts';

export function accessSight(decisions: Decisions): Sight {
  const { policy } = decisions;
  return {
    async shows(entry, ctx) {
      // What a human is asked about at the call is there to be called.
      const { effect } = await decisions.decide(entry, ctx);
      return effect === 'allow' || effect === 'ask';
    },
    could: (principal, area) => policy.could?.(principal, area) !== false,
    async scopesFor(request) {
      if (policy.scopes === false) return undefined;
      try {
        return (await policy.decide(request)).scopes;
      } catch {
        // It says so when the operation itself is decided.
        return undefined;
      }
    },
    within: (ctx) => withoutUnseenMounts(policy, ctx),
  };
}

/** A context whose answer names no mount, as missing, of which this principal can see nothing. */
export function withoutUnseenMounts(policy: AccessPolicy, ctx: Context): Context {
  const { notes, principal } = ctx;
  if (notes === undefined || policy.could === undefined) return ctx;
  return {
    ...ctx,
    notes: {
      ...notes,
      missing: (part) => {
        if (policy.could?.(principal, { mount: part.mount }) !== false) notes.missing(part);
      },
    },
  };
}
