/** Applies the policy to subscriptions: each change is decided about when it happens. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ChangeEvent, ResourceProvider } from '../../core/provider.ts';
import type { Views } from './views.ts';
import { whenDecided } from './when-decided.ts';

type Watch = NonNullable<ResourceProvider['watch']>;

const NOTHING_WATCHED: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

export function guardedWatch(inner: ResourceProvider, views: Views): Watch {
  const { policy, decisions, about, unseen, described, carryOut, whenHidden } = views;

  /** Returns undefined for a missing resource: it may be watched all the same. */
  const describedNow = (uri: string, ctx: Context) =>
    described(uri, ctx).catch((error: unknown) => {
      if (error instanceof ResourceError && error.code === 'not-found') return undefined;
      throw error;
    });

  return async (uri, onChange, ctx) => {
    if (uri === undefined) return (await inner.watch?.(uri, onChange, ctx)) ?? NOTHING_WATCHED;
    await views.named(uri, ctx);
    const known = await describedNow(uri, ctx);
    const asked = known === undefined ? unseen('subscribe', uri) : about('subscribe', known);
    const decision = await decisions.decide(asked, ctx);
    const isHidden = decision.effect === 'hide';
    if (isHidden) ctx.decided?.(decision);
    else carryOut(decision, asked, uri, ctx);

    /** Whether the caller could know the watched resource when it was last there. */
    let couldKnow = known !== undefined && !isHidden;

    /** Decides again: the resource may have changed, or may exist now under another spelling. */
    function mayKnow(changed: string): boolean | Promise<boolean> {
      if (!policy.attributes) return decisions.allows(unseen('subscribe', changed), ctx);
      const isWatched = changed === uri || changed === known?.uri;
      return describedNow(changed, ctx).then(
        async (resource) => {
          // Callers who could know a resource may learn that it is gone. Of others, only the URI is left to decide by.
          if (resource === undefined)
            return isWatched ? couldKnow : decisions.allows(unseen('subscribe', changed), ctx);
          const allowed = await decisions.allows(about('subscribe', resource), ctx);
          if (isWatched) couldKnow = allowed;
          return allowed;
        },
        // It cannot be described now, and its reader may know that it has changed.
        (error: unknown) => isWatched && couldKnow && error instanceof ResourceError && error.retryable,
      );
    }
    const told = (event: ChangeEvent): void => {
      // A hidden resource is watched like a missing one. By its URI alone it stays hidden; by attributes, each change is decided about.
      if (isHidden && !policy.attributes) return;
      const may = event.kind === 'list-changed' ? !isHidden || mayKnow(uri) : mayKnow(event.uri);
      void whenDecided(may, (allowed) => {
        if (allowed) onChange(event);
      });
    };
    const watched = (await inner.watch?.(uri, told, ctx)) ?? NOTHING_WATCHED;
    await whenHidden();
    return watched;
  };
}
