/** The subscriptions of one connection, or of one `subscriptions/listen` stream: counted by URI, limited, and ended together. */
import type { Context } from '../core/context.ts';
import { invalid, PeerError, ResourceError } from '../core/errors.ts';
import type { Engine } from '../engine/index.ts';

/** URIs that one connection or listen stream may subscribe to. */
export const MAX_SUBSCRIPTIONS = 1_000;

export interface SubscriptionSink {
  /** A resource changed; the URI as it was subscribed to. */
  updated(uri: string): void;
  listChanged(): void;
  promptsChanged(): void;
  toolsChanged(): void;
}

const LIST = { list: 'resources' } as const;
const PROMPTS = { list: 'prompts' } as const;
const TOOLS = { list: 'tools' } as const;

/** The subject of a subscription: a URI, or one of the lists. */
type Key = string | typeof LIST | typeof PROMPTS | typeof TOOLS;

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

  /** @throws ResourceError `not-found`, `denied`, `invalid` for what cannot be subscribed to, `limited` */
  async add(uri: string, ctx: Context): Promise<void> {
    await assertSubscribable(this.#engine, uri, ctx);
    await this.#hold(uri, ctx);
  }

  /** As `add`, also for what is not there now: it was, when it was subscribed to. */
  follow(uri: string, ctx: Context): Promise<void> {
    return this.#hold(uri, ctx);
  }

  /** Takes one `add` back; without one it does nothing. */
  remove(uri: string): Promise<void> {
    return this.#release(uri);
  }

  /** Reports changes of the listed set from now on. */
  addList(ctx: Context): Promise<void> {
    return this.#hold(LIST, ctx);
  }

  removeList(): Promise<void> {
    return this.#release(LIST);
  }

  /** Reports changes of the prompts from now on. */
  addPrompts(ctx: Context): Promise<void> {
    return this.#hold(PROMPTS, ctx);
  }

  removePrompts(): Promise<void> {
    return this.#release(PROMPTS);
  }

  /** Reports changes of the tools from now on. */
  addTools(ctx: Context): Promise<void> {
    return this.#hold(TOOLS, ctx);
  }

  removeTools(): Promise<void> {
    return this.#release(TOOLS);
  }

  /** Ends what this caller may no longer see, as after a change of its roots; gives the URIs. */
  async recheck(ctx: Context): Promise<readonly string[]> {
    const uris = [...this.#held.keys()].filter((key) => typeof key === 'string');
    const ended = await Promise.all(uris.map((uri) => this.#endIfDenied(uri, ctx)));
    return uris.filter((_, index) => ended[index]);
  }

  /** Takes everything back; more may be added. */
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
    else if (key.list === 'prompts') this.#sink.promptsChanged();
    else if (key.list === 'tools') this.#sink.toolsChanged();
    else this.#sink.listChanged();
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
      // A resource that is merely gone may come again, and its subscriber wants to know.
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

/** @throws ResourceError what `metadata` throws, and `invalid` for what cannot be subscribed to */
export async function assertSubscribable({ provider }: Engine, uri: string, ctx: Context): Promise<void> {
  try {
    const { capabilities } = await provider.metadata(uri, { ...ctx, purpose: 'subscribe' });
    if (capabilities?.subscribe !== true) throw invalid('This resource cannot be subscribed to', uri);
  } catch (error) {
    // A mounted server may let be watched what it does not have yet: it says so itself when it is asked to.
    if (!(error instanceof PeerError)) throw error;
  }
}

/** The same for a connection that lasts: what its peer subscribes to by tools it is told of as well. */
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
