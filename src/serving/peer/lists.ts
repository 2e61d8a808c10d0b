/** Watches the lists whose changes the handshake promised to report to a client of 2025. */
import type { Context, Principal } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import type { ListName } from '../../protocol/list-name.ts';
import { offersTo } from '../dispatch/methods.ts';
import type { Subscriptions } from '../subscriptions.ts';

/** The lists that can change; those of prompts and tools only if their methods are offered to this client. */
export function changingLists({ engine, principal }: Promised): readonly ListName[] {
  const offered = offersTo(engine, principal);
  return [
    ...(engine.provider.features.watch ? (['resources'] as const) : []),
    ...(['prompts', 'tools'] as const).filter((list) => engine[list].watchable && offered(`${list}/list`)),
  ];
}

interface Promised {
  readonly engine: Engine;
  readonly principal: Principal;
}

/** Watches lists until the subscriptions end. If a list cannot be watched, this is only logged. */
export function watchLists(lists: readonly ListName[], subscriptions: Subscriptions, ctx: Context): void {
  for (const list of lists) {
    subscriptions
      .addList(list, ctx)
      .catch((error: unknown) => ctx.log.warn(`changes of the list of ${list} go unnoticed`, { error }));
  }
}
