/**
 * Serves many subscribers with few watches: one watch per principal and URI, shared and counted, or one per client where clients
 * may see different content. Events are coalesced, so that a storm of writes becomes one update per interval (SEC-RES-4).
 */
import { principalKey } from './access.ts';
import { type Context, withSignal } from './context.ts';
import { ResourceError } from './errors.ts';
import type { ChangeEvent, ProviderFeatures, ResourceProvider } from './provider.ts';

export interface ChangeHubOptions {
  /** Events on one URI within this many milliseconds become one. */
  readonly coalesceMs?: number;
  /** The most open watches, over all principals. */
  readonly maxWatches?: number;
}

export const DEFAULT_COALESCE_MS = 50;
export const DEFAULT_MAX_WATCHES = 10_000;

export type ChangeListener = () => void;

export interface ChangeHub {
  /**
   * Calls `listener` after every change of `uri`, or of the list when `uri` is undefined. Resolves once the watch is in
   * place, so that no later change is missed.
   * @throws ResourceError `limited` if too many watches are open, `invalid` if the provider cannot watch, `unavailable` if the
   *   hub is closed; errors of the provider's `watch`
   */
  subscribe(uri: string | undefined, listener: ChangeListener, ctx: Context): Promise<AsyncDisposable>;
  /** The number of open watches. */
  readonly size: number;
  /** Ends every watch; resolves once all have ended. */
  close(): Promise<void>;
}

interface Watch {
  readonly listeners: Set<ChangeListener>;
  readonly ready: Promise<AsyncDisposable>;
  timer: NodeJS.Timeout | undefined;
}

/** @param provider only its `watch` is used, and its flag for clients that see different content */
export function createChangeHub(
  provider: Pick<ResourceProvider, 'name' | 'watch'> & { readonly features?: Pick<ProviderFeatures, 'apart'> },
  options: ChangeHubOptions = {},
): ChangeHub {
  const coalesceMs = options.coalesceMs ?? DEFAULT_COALESCE_MS;
  const maxWatches = options.maxWatches ?? DEFAULT_MAX_WATCHES;
  const watches = new Map<string, Watch>();
  const ending = new Set<Promise<void>>();
  const lifetime = new AbortController();

  function open(key: string, uri: string | undefined, ctx: Context): Watch {
    if (provider.watch === undefined) throw new ResourceError('invalid', 'Changes cannot be watched here', { uri });
    if (lifetime.signal.aborted) throw new ResourceError('unavailable', 'The server is shutting down', { uri });
    if (watches.size >= maxWatches) {
      throw new ResourceError('limited', 'Too many resources are being watched; end a subscription first', {
        uri,
        details: { limit: maxWatches },
      });
    }
    const listeners = new Set<ChangeListener>();
    const flush = (): void => {
      watch.timer = undefined;
      for (const listener of [...listeners]) {
        try {
          listener();
        } catch (error) {
          ctx.log.error('a subscriber failed to handle a change', { uri, error });
        }
      }
    };
    const onChange = (_event: ChangeEvent): void => {
      if (listeners.size > 0) watch.timer ??= setTimeout(flush, coalesceMs);
    };
    // The watch is shared and outlives the request that opened it, so it has the lifetime of the hub.
    const ready = provider.watch(uri, onChange, withSignal(ctx, lifetime.signal));
    const watch: Watch = { listeners, ready, timer: undefined };
    watches.set(key, watch);
    ready.catch(() => watches.get(key) === watch && watches.delete(key));
    return watch;
  }

  function end(key: string, watch: Watch): Promise<void> {
    if (watches.get(key) === watch) watches.delete(key);
    clearTimeout(watch.timer);
    const done = watch.ready.then(
      (handle) => handle[Symbol.asyncDispose](),
      () => {},
    );
    const tracked: Promise<void> = done.finally(() => ending.delete(tracked));
    ending.add(tracked);
    return tracked;
  }

  return {
    async subscribe(uri, listener, ctx) {
      const whose = provider.features?.apart === true ? [ctx.peer, ctx.client?.declared ?? null] : [];
      const key = JSON.stringify([principalKey(ctx.principal), uri ?? null, ...whose]);
      const watch = watches.get(key) ?? open(key, uri, ctx);
      // Wrapped, so that the same function may subscribe twice.
      const own: ChangeListener = () => listener();
      watch.listeners.add(own);
      let disposed: Promise<void> | undefined;
      const dispose = async (): Promise<void> => {
        watch.listeners.delete(own);
        if (watch.listeners.size === 0) await end(key, watch);
      };
      try {
        await watch.ready;
        // If the hub was closed meanwhile, the new watch is being ended.
        lifetime.signal.throwIfAborted();
      } catch (error) {
        watch.listeners.delete(own);
        throw error;
      }
      return { [Symbol.asyncDispose]: () => (disposed ??= dispose()) };
    },

    get size() {
      return watches.size;
    },

    async close() {
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      for (const [key, watch] of watches) void end(key, watch);
      await Promise.allSettled([...ending]);
    },
  };
}
