/** Leaves mounts out of the notes of a list if the caller can see nothing of them. */
import type { AccessPolicy } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';

/**
 * Returns a context whose notes of missing parts do not name mounts of which this principal can see nothing. They name no entries
 * either, because a missing entry may be forbidden for the principal, and no decision is made about missing entries.
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
