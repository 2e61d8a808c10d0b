/** Notifications of changes, in either era: how they are asked for, and how a test waits for them. */
import { isJSONRPCNotification, type JSONRPCMessage, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/client';
import type { Connected } from './harness.ts';
import { until, within } from './waiting.ts';

/** `list_changed`, or the URI that was updated. */
export interface Notice {
  readonly about: string;
  /** The listen stream it came on, in the newer era. */
  readonly stream: unknown;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
}

export interface Notices {
  /** All since the collecting began, or since `forget`. */
  readonly seen: readonly Notice[];
  /** How often something was told. */
  count(about: string): number;
  /** Resolves when this has been told, counting only what came after the last `forget`. */
  told(about: string, times?: number): Promise<void>;
  forget(): void;
}

/** Collects what a client is told from now on, once the server can reach it. */
export async function collectNotices(on: Connected): Promise<Notices> {
  await on.reachable;
  const seen: Notice[] = [];
  const waiting = new Set<() => void>();
  on.onMessage((message) => {
    const notice = noticeOf(message);
    if (notice === undefined) return;
    seen.push(notice);
    for (const check of [...waiting]) check();
  });
  const count = (about: string): number => seen.filter((notice) => notice.about === about).length;
  return {
    seen,
    count,
    async told(about, times = 1) {
      const arrived = new Promise<void>((resolve) => {
        const check = (): void => {
          if (count(about) < times) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
      await within(arrived, `being told ${times} times of ${about}, told so far: ${JSON.stringify(seen)}`);
    },
    forget: () => void seen.splice(0),
  };
}

function noticeOf(message: JSONRPCMessage): Notice | undefined {
  if (!isJSONRPCNotification(message)) return undefined;
  const stream = message.params?._meta?.[SUBSCRIPTION_ID_META_KEY];
  if (message.method === 'notifications/resources/list_changed')
    return { about: 'list_changed', stream, at: Date.now() };
  if (message.method === 'notifications/resources/updated') {
    return { about: String(message.params?.uri), stream, at: Date.now() };
  }
  return undefined;
}

export interface Subscribed {
  /** Unsubscribes; the server has taken note when this resolves. */
  end(): Promise<void>;
}

/** Subscribes in the way of the connection's era; the watches are in place when this resolves. */
export async function subscribe(on: Connected, uris: readonly string[]): Promise<Subscribed> {
  if (on.era === 'modern') {
    const stream = await on.client.listen({ resourceSubscriptions: [...uris] });
    return {
      async end() {
        await stream.close();
        // Whatever the server had to do about it, it did before this answer.
        await on.request('resources/templates/list');
      },
    };
  }
  for (const uri of uris) await on.client.subscribeResource({ uri });
  return {
    async end() {
      for (const uri of uris) await on.client.unsubscribeResource({ uri });
    },
  };
}

/**
 * Asks for changes of the listed set. In the 2025 era they come unasked, from some moment after the handshake on: `nudge`
 * changes the set until that shows.
 */
export async function subscribeToList(on: Connected, notices: Notices, nudge: () => Promise<void>): Promise<void> {
  if (on.era === 'modern') {
    await on.client.listen({ resourcesListChanged: true });
    return;
  }
  await until(async () => {
    await nudge();
    return notices.count('list_changed') > 0;
  }, 'the first change of the list to be told');
}
