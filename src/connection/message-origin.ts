/**
 * Marks log messages with the request that they belong to. In the 2026 era over HTTP, a log message comes on the stream of its
 * request, but does not name that request. So the origin of the request is written into the message on its way in.
 */
import type { Data } from './data.ts';

/** The key in the `_meta` of a log message for the origin of its request. It is never sent anywhere. */
export const ORIGIN_META_KEY = 'vitrine/origin';

/** The header that gives a request its origin. It is removed before the request is sent. */
export const ORIGIN_HEADER = 'vitrine-origin';

/** Returns the headers without the origin, and the origin. */
export function takeOrigin(init: RequestInit['headers']): { headers: Headers; origin: string | undefined } {
  const all = init instanceof Headers ? init : new Headers(init);
  const origin = all.get(ORIGIN_HEADER);
  if (origin === null) return { headers: all, origin: undefined };
  const headers = new Headers(all);
  headers.delete(ORIGIN_HEADER);
  return { headers, origin };
}

/** Returns a log message with its origin in it; undefined for any other message. */
export function withOrigin(message: unknown, origin: string): Data | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { method, params } = message as { readonly method?: unknown; readonly params?: Data };
  if (method !== 'notifications/message' || params === undefined) return undefined;
  return {
    ...message,
    params: { ...params, _meta: { ...(params._meta as Data | undefined), [ORIGIN_META_KEY]: origin } },
  };
}
