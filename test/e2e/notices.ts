/** Notifications of changes, in either era: how to request them, and how a test waits for them. */
import { isJSONRPCNotification, type JSONRPCMessage, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/client';
import type { Connected } from './harness.ts';
import { until, within } from './waiting.ts';

/** A notification of a change. */
export interface Notice {
  /** `list_changed`, or the URI of the updated resource. */
  readonly about: string;
  /** The listen stream that it came on, in the 2026 era. */
  readonly stream: unknown;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
}

export interface Notices {
  /** All notifications since the beginning, or since `forget`. */
  readonly seen: readonly Notice[];
  /** How often a change was reported. */
  count(about: string): number;
  /** Resolves when the change has been reported this often since the last `forget`; by default, once. */
  told(about: string, times?: number): Promise<void>;
  forget(): void;
}

/** Collects the notifications to a client from now on, once the server can send them. */
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
  /** Unsubscribes. Resolves when the server has done so. */
  end(): Promise<void>;
}

/** Subscribes in the way of the connection's era. Resolves when the watches are in place. */
export async function subscribe(on: Connected, uris: readonly string[]): Promise<Subscribed> {
  if (on.era === 'modern') {
    const stream = await on.client.listen({ resourceSubscriptions: [...uris] });
    return {
      async end() {
        await stream.close();
        // The server has ended the watches before it answers this request.
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
 * Requests notifications of list changes. In the 2025 era they come unasked, some time after the handshake: `nudge` makes changes until
 * one is reported.
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
