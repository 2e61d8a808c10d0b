/** The subscription methods of the 2025 era; 2026-07-28 has `subscriptions/listen` instead. */
import type { z } from 'zod';
import type { Engine } from '../../engine/index.ts';
import { subscribeParams } from '../../protocol/methods.ts';
import { admitted, type Method } from '../dispatch/methods.ts';
import type { Subscriptions } from '../subscriptions.ts';

/** The names of the methods. */
export const SUBSCRIBING: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);

export interface SubscriptionMethods {
  readonly methods: ReadonlyMap<string, Method>;
  /** Forgets subscriptions that have ended by themselves. */
  forget(uris: readonly string[]): void;
}

const uriOf = (params: unknown): string => (params as z.infer<typeof subscribeParams>).uri;

export function subscriptionMethods(engine: Engine, subscriptions: Subscriptions): SubscriptionMethods {
  // Subscribing twice to a URI counts once, and one unsubscribe ends it.
  const subscribed = new Map<string, Promise<void>>();
  const methods: readonly Method[] = [
    {
      name: 'resources/subscribe',
      params: subscribeParams,
      run: async (params, ctx) => {
        const uri = uriOf(params);
        const adding = subscribed.get(uri) ?? subscriptions.add(uri, ctx);
        subscribed.set(uri, adding);
        await adding.catch((error: unknown) => {
          if (subscribed.get(uri) === adding) subscribed.delete(uri);
          throw error;
        });
        return {};
      },
    },
    {
      name: 'resources/unsubscribe',
      params: subscribeParams,
      run: async (params) => {
        const uri = uriOf(params);
        const adding = subscribed.get(uri);
        subscribed.delete(uri);
        await adding?.then(
          () => subscriptions.remove(uri),
          () => {},
        );
        return {};
      },
    },
  ];
  return {
    methods: new Map(methods.map((each) => [each.name, admitted(engine, each)])),
    forget(uris) {
      for (const uri of uris) subscribed.delete(uri);
    },
  };
}
