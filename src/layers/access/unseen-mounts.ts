/** Lists speak of no mount of which the caller can see nothing. */
import type { AccessPolicy } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';

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
