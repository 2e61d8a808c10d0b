/** What a caller sees: which tools and prompts are listed, and which mounts are spoken of. */
import type { AccessPolicy, Sight } from '../../core/access.ts';
import { type Context, createContext } from '../../core/context.ts';
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
      const { principal, ...asked } = request;
      return (await decisions.decide(asked, createContext({ principal }))).scopes;
    },
    within: (ctx) => withoutUnseenMounts(policy, ctx),
  };
}

/**
 * A context whose answer names no mount, as missing, of which this principal can see nothing, and no entry: it may be one
 * that is not for the principal, and nobody decides about what is missing.
 */
export function withoutUnseenMounts(policy: AccessPolicy, ctx: Context): Context {
  const { notes, principal } = ctx;
  if (notes === undefined || policy.everything?.(principal) === true) return ctx;
  return {
    ...ctx,
    notes: {
      ...notes,
      missing: ({ mount, reason }) => {
        const seen = mount === undefined || policy.could?.(principal, { mount }) !== false;
        if (seen) notes.missing({ ...(mount !== undefined && { mount }), reason });
      },
    },
  };
}
