/** The subscriptions of one connection, or of one `subscriptions/listen` stream: counted by URI, limited, and ended together. */
import type { Context } from '../core/context.ts';
import { invalid, PeerError, ResourceError } from '../core/errors.ts';
import type { Engine } from '../engine/index.ts';
import type { ListName } from '../protocol/list-name.ts';

/** The most URIs that one connection or listen stream may subscribe to. */
export const MAX_SUBSCRIPTIONS = 1_000;

export interface SubscriptionSink {
  /** Reports a changed resource, by the URI that was subscribed to. */
  updated(uri: string): void;
  listChanged(list: ListName): void;
}

/** One object for each list, to serve as the key of a map. */
const LISTS: Readonly<Record<ListName, { readonly list: ListName }>> = {
  resources: { list: 'resources' },
  prompts: { list: 'prompts' },
  tools: { list: 'tools' },
};

/** The subject of a subscription: a URI, or one of the lists. */
type Key = string | (typeof LISTS)[ListName];

interface Counted {
  count: number;
  readonly handle: Promise<AsyncDisposable>;
}

export class Subscriptions {
  readonly #engine: Engine;
  readonly #sink: SubscriptionSink;
  readonly #limit: number;
  readonly #held = new Map<Key, Counted>();
  #closed = false;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, sink: SubscriptionSink, limit = MAX_SUBSCRIPTIONS) {
    this.#engine = engine;
    this.#sink = sink;
    this.#limit = limit;
  }

  /** @throws ResourceError `not-found`, `denied`, `invalid` for a resource that cannot be subscribed to, `limited` */
  async add(uri: string, ctx: Context): Promise<void> {
    await assertSubscribable(this.#engine, uri, ctx);
    await this.#hold(uri, ctx);
  }

  /** As `add`, but accepts a resource that is missing now: it existed when it was subscribed to. */
  follow(uri: string, ctx: Context): Promise<void> {
    return this.#hold(uri, ctx);
  }

  /** Undoes one `add`; does nothing without one. */
  remove(uri: string): Promise<void> {
    return this.#release(uri);
  }

  /** Reports changes of a list from now on. */
  addList(list: ListName, ctx: Context): Promise<void> {
    return this.#hold(LISTS[list], ctx);
  }

  /** Ends subscriptions to resources that this caller may no longer see, as after a change of its roots; returns their URIs. */
  async recheck(ctx: Context): Promise<readonly string[]> {
    const uris = [...this.#held.keys()].filter((key) => typeof key === 'string');
    const ended = await Promise.all(uris.map((uri) => this.#endIfDenied(uri, ctx)));
    return uris.filter((_, index) => ended[index]);
  }

  /** Ends all subscriptions; more may be added. */
  async releaseAll(): Promise<void> {
    const all = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(all.map(dispose));
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    await this.releaseAll();
  }

  #tell(key: Key): void {
    if (typeof key === 'string') this.#sink.updated(key);
    else this.#sink.listChanged(key.list);
  }

  async #hold(key: Key, ctx: Context): Promise<void> {
    if (this.#closed) throw new ResourceError('unavailable', 'The connection has ended');
    const known = this.#held.get(key);
    if (known !== undefined) {
      known.count++;
      await known.handle;
      return;
    }
    if (typeof key === 'string' && this.#held.size >= this.#limit) {
      throw new ResourceError('limited', `A connection has at most ${this.#limit} subscriptions; end one first`, {
        uri: key,
        details: { limit: this.#limit },
      });
    }
    const listener = (): void => {
      if (!this.#closed && this.#held.get(key) === counted) this.#tell(key);
    };
    const to = typeof key === 'string' ? { uri: key } : key;
    const handle = this.#engine.provider.subscribe(to, listener, ctx);
    const counted: Counted = { count: 1, handle };
    this.#held.set(key, counted);
    try {
      await counted.handle;
    } catch (error) {
      if (this.#held.get(key) === counted) this.#held.delete(key);
      throw error;
    }
  }

  async #release(key: Key): Promise<void> {
    const counted = this.#held.get(key);
    if (counted === undefined || --counted.count > 0) return;
    this.#held.delete(key);
    await dispose(counted);
  }

  async #endIfDenied(uri: string, ctx: Context): Promise<boolean> {
    try {
      await this.#engine.provider.metadata(uri, { ...ctx, purpose: 'subscribe' });
      return false;
    } catch (error) {
      // A missing resource may come back, and its subscriber wants to know.
      if (!(error instanceof ResourceError) || error.code !== 'denied') return false;
      const counted = this.#held.get(uri);
      this.#held.delete(uri);
      if (counted !== undefined) await dispose(counted);
      return true;
    }
  }
}

async function dispose(counted: Counted): Promise<void> {
  const handle = await counted.handle.catch(() => undefined);
  await handle?.[Symbol.asyncDispose]();
}

/** @throws ResourceError errors of `metadata`, and `invalid` for a resource that cannot be subscribed to */
export async function assertSubscribable({ provider }: Engine, uri: string, ctx: Context): Promise<void> {
  try {
    const { capabilities } = await provider.metadata(uri, { ...ctx, purpose: 'subscribe' });
    if (capabilities?.subscribe !== true) throw invalid('This resource cannot be subscribed to', uri);
  } catch (error) {
    // A mounted server may allow subscriptions to resources that it does not have yet, and decides itself when it is asked.
    if (!(error instanceof PeerError)) throw error;
  }
}

/** The subscriptions of a lasting connection, which include those that its peer makes with tools. */
export class ConnectionSubscriptions extends Subscriptions {
  readonly #disconnect: (() => Promise<void>) | undefined;

  constructor(engine: Engine, sink: SubscriptionSink, peer: string) {
    super(engine, sink);
    this.#disconnect = engine.toolSubscriptions?.connect(peer, this);
  }

  override async close(): Promise<void> {
    await this.#disconnect?.();
    await super.close();
  }
}
