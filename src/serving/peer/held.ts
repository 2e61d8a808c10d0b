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

export class HeldSubscriptions implements SubscriptionMethods {
  readonly methods: SubscriptionMethods['methods'];
  readonly #options: HeldOptions;
  /** Whether this replica has the client's stream. */
  #open = false;
  readonly #watched = new Set<string>();
  /** URIs whose watches could not be placed, and are tried again. */
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
    if (this.#watched.has(uri)) this.#options.updated(uri);
    else void this.#watch(uri);
  }

  /** Ends the watch of a subscription that has ended. */
  unsubscribed(uri: string): void {
    this.#failed.delete(uri);
    if (!this.#watched.delete(uri)) return;
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

  async #watch(uri: string): Promise<void> {
    const { subscriptions, context, updated, log } = this.#options;
    this.#watched.add(uri);
    this.#failed.delete(uri);
    try {
      const ctx = await context();
      // The subscription, or the client's stream, may end during each wait.
      if (!this.#watched.has(uri)) return;
      await subscriptions.follow(uri, ctx);
      if (this.#watched.has(uri)) updated(uri);
    } catch (error) {
      if (!this.#watched.delete(uri)) return;
      log.debug('a subscription cannot be watched yet', { uri, error });
      // The resource may be missing. The client finds out when it reads.
      updated(uri);
      if (error instanceof ResourceError && error.code === 'denied') return;
      this.#failed.add(uri);
      this.#timer ??= setTimeout(() => this.#retry(), RETRY_MS).unref();
    }
  }

  #retry(): void {
    this.#timer = undefined;
    for (const uri of [...this.#failed]) void this.#watch(uri);
  }

  async #subscribe(uri: string, ctx: Context): Promise<Record<string, never>> {
    const { engine, part, subscriptions } = this.#options;
    await assertSubscribable(engine, uri, ctx);
    const isNew = this.#open && !this.#watched.has(uri);
    if (isNew) {
      this.#watched.add(uri);
      await subscriptions.follow(uri, ctx).catch((error: unknown) => {
        this.#watched.delete(uri);
        throw error;
      });
    }
    await part.subscribe(uri).catch((error: unknown) => {
      if (isNew) this.unsubscribed(uri);
      throw error;
    });
    return {};
  }

  async #unsubscribe(uri: string): Promise<Record<string, never>> {
    await this.#options.part.unsubscribe(uri);
    this.unsubscribed(uri);
    return {};
  }
}
