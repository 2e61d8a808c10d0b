/**
 * The subscriptions of a session that replicas share. The replica that has the client's stream places the watches. It first reads
 * the noted subscriptions from the shared memory and reports each as updated once, so that the client misses no change between two
 * streams.
 */
import type { z } from 'zod';
import type { Context, Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { Engine } from '../../engine/index.ts';
import { subscribeParams } from '../../protocol/methods.ts';
import { admitted } from '../dispatch/methods.ts';
import { assertSubscribable, type Subscriptions } from '../subscriptions.ts';
import type { SharedPart } from './shared-part.ts';
import type { SubscriptionMethods } from './subscribing.ts';

/** The time before a watch that could not be placed is tried again, in milliseconds. */
const RETRY_MS = 2_000;

export interface HeldOptions {
  readonly engine: Engine;
  readonly part: SharedPart;
  readonly subscriptions: Subscriptions;
  readonly log: Log;
  /** Returns the context in which watches are placed. */
  readonly context: () => Promise<Context>;
  /** Reports a changed resource to the client. */
  readonly updated: (uri: string) => void;
}

interface Watch {
  /** Whether the watch has been asked for, so that it has to be removed at the end. */
  asked: boolean;
  /** Whether the subscription is noted for all replicas. */
  noted: boolean;
  /** Resolves when the watch is placed, or has ended before; rejects if it cannot be placed. */
  placed: Promise<void>;
}

export class HeldSubscriptions implements SubscriptionMethods {
  readonly methods: SubscriptionMethods['methods'];
  readonly #options: HeldOptions;
  /** Whether this replica has the client's stream. */
  #open = false;
  readonly #watched = new Map<string, Watch>();
  /** Noted URIs whose watches could not be placed, and are tried again. None of them is in `#watched`. */
  readonly #failed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeldOptions) {
    this.#options = options;
    const { engine } = options;
    const uriOf = (params: unknown): string => (params as z.infer<typeof subscribeParams>).uri;
    const methods = [
      {
        name: 'resources/subscribe',
        params: subscribeParams,
        run: (params: unknown, ctx: Context) => this.#subscribe(uriOf(params), ctx),
      },
      {
        name: 'resources/unsubscribe',
        params: subscribeParams,
        run: (params: unknown) => this.#unsubscribe(uriOf(params)),
      },
    ];
    this.methods = new Map(methods.map((each) => [each.name, admitted(engine, each)]));
  }

  /** Whether this replica has the client's stream. */
  get open(): boolean {
    return this.#open;
  }

  /** Called when the client has opened its stream at this replica. */
  begin(): void {
    this.#open = true;
    this.mended();
  }

  /** Called when the client's stream has ended. */
  async rest(): Promise<void> {
    this.#open = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watched.clear();
    this.#failed.clear();
    await this.#options.subscriptions.releaseAll();
  }

  /** Reads the noted subscriptions again, watches them, and reports each as updated once. */
  mended(): void {
    if (!this.#open) return;
    const { part, log } = this.#options;
    part.subscriptions().then(
      (uris) => {
        for (const uri of uris) this.subscribed(uri);
      },
      // When the bus is back, it calls `mended` again.
      (error: unknown) => log.debug('the subscriptions of a session cannot be read now', { error }),
    );
  }

  /** Watches a subscription that another replica has noted. If it is watched already, reports it, because a change may have been missed. */
  subscribed(uri: string): void {
    if (!this.#open) return;
    const watch = this.#watched.get(uri);
    if (watch === undefined) return void this.#watch(uri);
    watch.noted = true;
    this.#options.updated(uri);
  }

  /** Ends the watch of a subscription that has ended. */
  unsubscribed(uri: string): void {
    this.#failed.delete(uri);
    const watch = this.#watched.get(uri);
    this.#watched.delete(uri);
    if (watch?.asked !== true) return;
    this.#options.subscriptions
      .remove(uri)
      .catch((error: unknown) => this.#options.log.warn('a watch did not end', { error }));
  }

  /** Removes subscriptions that the server has ended, as after a change of the client's roots. */
  forget(uris: readonly string[]): void {
    for (const uri of uris) {
      this.#watched.delete(uri);
      this.#options.part.unsubscribe(uri).catch(() => {});
    }
  }

  /** Begins to place a watch. The caller waits for it, and calls `#lose` if it fails. */
  #place(uri: string, isNoted: boolean, context: () => Promise<Context>): Watch {
    const watch: Watch = { asked: false, noted: this.#failed.delete(uri) || isNoted, placed: Promise.resolve() };
    this.#watched.set(uri, watch);
    watch.placed = this.#follow(uri, watch, context);
    return watch;
  }

  async #follow(uri: string, watch: Watch, context: () => Promise<Context>): Promise<void> {
    const ctx = await context();
    // The subscription, or the client's stream, may have ended meanwhile, and may have begun again with another watch.
    if (this.#watched.get(uri) !== watch) return;
    watch.asked = true;
    await this.#options.subscriptions.follow(uri, ctx);
  }

  /**
   * Forgets a watch that could not be placed, and tries a noted subscription again later, unless it is denied.
   * @returns whether the URI still had this watch
   */
  #lose(uri: string, watch: Watch, error: unknown): boolean {
    if (this.#watched.get(uri) !== watch) return false;
    this.#watched.delete(uri);
    if (watch.noted && !(error instanceof ResourceError && error.code === 'denied')) {
      this.#failed.add(uri);
      this.#timer ??= setTimeout(() => this.#retry(), RETRY_MS).unref();
    }
    return true;
  }

  async #watch(uri: string): Promise<void> {
    const { context, updated, log } = this.#options;
    const watch = this.#place(uri, true, context);
    try {
      await watch.placed;
      if (this.#watched.get(uri) === watch) updated(uri);
    } catch (error) {
      if (!this.#lose(uri, watch, error)) return;
      log.debug('a subscription cannot be watched yet', { uri, error });
      // The resource may be missing. The client finds out when it reads.
      updated(uri);
    }
  }

  #retry(): void {
    this.#timer = undefined;
    for (const uri of [...this.#failed]) void this.#watch(uri);
  }

  async #subscribe(uri: string, ctx: Context): Promise<Record<string, never>> {
    const { engine, part } = this.#options;
    await assertSubscribable(engine, uri, ctx);
    const placed = await this.#ensure(uri, ctx);
    await part.subscribe(uri).catch((error: unknown) => {
      if (placed !== undefined && placed === this.#watched.get(uri) && !placed.noted) this.unsubscribed(uri);
      throw error;
    });
    const watch = this.#watched.get(uri);
    if (watch !== undefined) watch.noted = true;
    // The client's stream may have begun meanwhile, or another request may have ended the watch.
    else if (this.#open) void this.#watch(uri);
    return {};
  }

  /** Waits for a watch where the client's stream is here. @returns the watch if this call has placed it @throws what `follow` throws */
  async #ensure(uri: string, ctx: Context): Promise<Watch | undefined> {
    for (let other = this.#watched.get(uri); other !== undefined; other = this.#watched.get(uri)) {
      // If the watch of another request fails, this request tries for itself.
      if (await other.placed.then(yes, no)) return undefined;
    }
    if (!this.#open) return undefined;
    const watch = this.#place(uri, false, async () => ctx);
    try {
      await watch.placed;
      return watch;
    } catch (error) {
      this.#lose(uri, watch, error);
      throw error;
    }
  }

  async #unsubscribe(uri: string): Promise<Record<string, never>> {
    await this.#options.part.unsubscribe(uri);
    this.unsubscribed(uri);
    return {};
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;
