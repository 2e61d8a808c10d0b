/** What one connection, or one `subscriptions/listen` stream, is told about: counted by URI, limited, and ended together. */
import type { Context } from '../core/context.ts';
import { invalid, PeerError, ResourceError } from '../core/errors.ts';
import type { Vitrine } from '../vitrine.ts';

/** URIs that one connection or listen stream may subscribe to. */
export const MAX_SUBSCRIPTIONS = 1_000;

export interface SubscriptionSink {
  /** A resource changed; the URI as it was subscribed to. */
  updated(uri: string): void;
  listChanged(): void;
  promptsChanged(): void;
  toolsChanged(): void;
}

export interface Subscriptions {
  /** @throws ResourceError `not-found`, `denied`, `invalid` for what cannot be subscribed to, `limited` */
  add(uri: string, ctx: Context): Promise<void>;
  /** Takes one `add` back; without one it does nothing. */
  remove(uri: string): Promise<void>;
  /** Reports changes of the listed set from now on. */
  addList(ctx: Context): Promise<void>;
  removeList(): Promise<void>;
  /** Reports changes of the prompts from now on. */
  addPrompts(ctx: Context): Promise<void>;
  removePrompts(): Promise<void>;
  /** Reports changes of the tools from now on. */
  addTools(ctx: Context): Promise<void>;
  removeTools(): Promise<void>;
  /** Ends what this caller may no longer see, as after a change of its roots; gives the URIs. */
  recheck(ctx: Context): Promise<readonly string[]>;
  close(): Promise<void>;
}

const LIST = Symbol('the listed set');
const PROMPTS = Symbol('the prompts');
const TOOLS = Symbol('the tools');

/** What is held: a URI, or one of the lists. */
type Key = string | typeof LIST | typeof PROMPTS | typeof TOOLS;

interface Counted {
  count: number;
  readonly handle: Promise<AsyncDisposable>;
}

export function createSubscriptions(
  vitrine: Vitrine,
  sink: SubscriptionSink,
  limit = MAX_SUBSCRIPTIONS,
): Subscriptions {
  const held = new Map<Key, Counted>();
  let closed = false;
  let closing: Promise<void> | undefined;

  async function end(): Promise<void> {
    closed = true;
    const all = [...held.values()];
    held.clear();
    await Promise.all(all.map(dispose));
  }

  async function hold(key: Key, tell: () => void, ctx: Context): Promise<void> {
    if (closed) throw new ResourceError('unavailable', 'The connection has ended');
    const known = held.get(key);
    if (known !== undefined) {
      known.count++;
      await known.handle;
      return;
    }
    if (typeof key === 'string' && held.size >= limit) {
      throw new ResourceError('limited', `A connection has at most ${limit} subscriptions; end one first`, {
        uri: key,
        details: { limit },
      });
    }
    const listener = (): void => {
      if (!closed && held.get(key) === counted) tell();
    };
    const hub = key === PROMPTS ? vitrine.promptChanges : key === TOOLS ? vitrine.toolChanges : vitrine.changes;
    const handle = hub.subscribe(typeof key === 'string' ? key : undefined, listener, ctx);
    const counted: Counted = { count: 1, handle };
    held.set(key, counted);
    try {
      await counted.handle;
    } catch (error) {
      if (held.get(key) === counted) held.delete(key);
      throw error;
    }
  }

  async function release(key: Key): Promise<void> {
    const counted = held.get(key);
    if (counted === undefined || --counted.count > 0) return;
    held.delete(key);
    await dispose(counted);
  }

  async function endIfDenied(uri: string, ctx: Context): Promise<boolean> {
    try {
      await vitrine.provider.metadata(uri, { ...ctx, purpose: 'subscribe' });
      return false;
    } catch (error) {
      // What is merely gone may come again, and its subscriber wants to know.
      if (!(error instanceof ResourceError) || error.code !== 'denied') return false;
      const counted = held.get(uri);
      held.delete(uri);
      if (counted !== undefined) await dispose(counted);
      return true;
    }
  }

  async function dispose(counted: Counted): Promise<void> {
    const handle = await counted.handle.catch(() => undefined);
    await handle?.[Symbol.asyncDispose]();
  }

  return {
    async add(uri, ctx) {
      await assertSubscribable(vitrine, uri, ctx);
      await hold(uri, () => sink.updated(uri), ctx);
    },
    remove: (uri) => release(uri),
    addList: (ctx) => hold(LIST, () => sink.listChanged(), ctx),
    removeList: () => release(LIST),
    addPrompts: (ctx) => hold(PROMPTS, () => sink.promptsChanged(), ctx),
    removePrompts: () => release(PROMPTS),
    addTools: (ctx) => hold(TOOLS, () => sink.toolsChanged(), ctx),
    removeTools: () => release(TOOLS),
    async recheck(ctx) {
      const uris = [...held.keys()].filter((key) => typeof key === 'string');
      const ended = await Promise.all(uris.map((uri) => endIfDenied(uri, ctx)));
      return uris.filter((_, index) => ended[index]);
    },
    close: () => (closing ??= end()),
  };
}

/** @throws ResourceError what `metadata` throws, and `invalid` for what cannot be subscribed to */
async function assertSubscribable({ provider }: Vitrine, uri: string, ctx: Context): Promise<void> {
  try {
    const { capabilities } = await provider.metadata(uri, { ...ctx, purpose: 'subscribe' });
    if (capabilities?.subscribe !== true) throw invalid('This resource cannot be subscribed to', uri);
  } catch (error) {
    // A mounted server may let be watched what it does not have yet: it says so itself when it is asked to.
    if (!(error instanceof PeerError)) throw error;
  }
}

/** The same for a connection that lasts: what its peer subscribes to by tools it is told of as well. */
export function connectionSubscriptions(vitrine: Vitrine, sink: SubscriptionSink, peer: string): Subscriptions {
  const own = createSubscriptions(vitrine, sink);
  const disconnect = vitrine.toolSubscriptions?.connect(peer, own);
  return {
    ...own,
    async close() {
      await disconnect?.();
      await own.close();
    },
  };
}
