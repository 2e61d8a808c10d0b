/** What one connection, or one `subscriptions/listen` stream, is told about: counted by URI, limited, and ended together. */
import type { Context } from '../core/context.ts';
import { invalid, ResourceError } from '../core/errors.ts';
import type { Vitrine } from '../vitrine.ts';

/** URIs that one connection or listen stream may subscribe to. */
export const MAX_SUBSCRIPTIONS = 1_000;

export interface SubscriptionSink {
  /** A resource changed; the URI as it was subscribed to. */
  updated(uri: string): void;
  listChanged(): void;
}

export interface Subscriptions {
  /** @throws ResourceError `not-found`, `denied`, `invalid` for what cannot be subscribed to, `limited` */
  add(uri: string, ctx: Context): Promise<void>;
  /** Takes one `add` back; without one it does nothing. */
  remove(uri: string): Promise<void>;
  /** Reports changes of the listed set from now on. */
  addList(ctx: Context): Promise<void>;
  removeList(): Promise<void>;
  close(): Promise<void>;
}

interface Counted {
  count: number;
  readonly handle: Promise<AsyncDisposable>;
}

export function createSubscriptions(
  vitrine: Vitrine,
  sink: SubscriptionSink,
  limit = MAX_SUBSCRIPTIONS,
): Subscriptions {
  const held = new Map<string | undefined, Counted>();
  let closed = false;

  async function hold(uri: string | undefined, tell: () => void, ctx: Context): Promise<void> {
    const known = held.get(uri);
    if (known !== undefined) {
      known.count++;
      await known.handle;
      return;
    }
    if (uri !== undefined && held.size >= limit) {
      throw new ResourceError('limited', `A connection has at most ${limit} subscriptions; end one first`, {
        uri,
        details: { limit },
      });
    }
    const counted: Counted = { count: 1, handle: vitrine.changes.subscribe(uri, () => !closed && tell(), ctx) };
    held.set(uri, counted);
    try {
      await counted.handle;
    } catch (error) {
      held.delete(uri);
      throw error;
    }
    if (closed) await release(uri);
  }

  async function release(uri: string | undefined): Promise<void> {
    const counted = held.get(uri);
    if (counted === undefined || --counted.count > 0) return;
    held.delete(uri);
    await dispose(counted);
  }

  async function dispose(counted: Counted): Promise<void> {
    const handle = await counted.handle.catch(() => undefined);
    await handle?.[Symbol.asyncDispose]();
  }

  return {
    async add(uri, ctx) {
      const resource = await vitrine.provider.metadata(uri, ctx);
      if (resource.capabilities?.subscribe !== true) throw invalid('This resource cannot be subscribed to', uri);
      await hold(uri, () => sink.updated(uri), ctx);
    },
    remove: (uri) => release(uri),
    addList: (ctx) => hold(undefined, () => sink.listChanged(), ctx),
    removeList: () => release(undefined),
    async close() {
      closed = true;
      const all = [...held.values()];
      held.clear();
      await Promise.all(all.map(dispose));
    },
  };
}
