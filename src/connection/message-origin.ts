/**
 * Which request a log message belongs to. On 2026-07-28 over HTTP it comes on the stream of its request, which the
 * messages themselves do not say: it is written into them on the way in.
 */
import type { Data } from './data.ts';

/** In the `_meta` of such a message: the origin that its request was given. Never sent anywhere. */
export const ORIGIN_META_KEY = 'vitrine/origin';

/** How a request is given its origin; taken off before it is sent. */
export const ORIGIN_HEADER = 'vitrine-origin';

/** The headers without the origin, and the origin. */
export function takeOrigin(given: RequestInit['headers']): { headers: Headers; origin: string | undefined } {
  const all = given instanceof Headers ? given : new Headers(given);
  const origin = all.get(ORIGIN_HEADER);
  if (origin === null) return { headers: all, origin: undefined };
  const headers = new Headers(all);
  headers.delete(ORIGIN_HEADER);
  return { headers, origin };
}

/** A log message with its origin in it; undefined for any other message. */
export function withOrigin(message: unknown, origin: string): Data | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { method, params } = message as { readonly method?: unknown; readonly params?: Data };
  if (method !== 'notifications/message' || params === undefined) return undefined;
  return {
    ...message,
    params: { ...params, _meta: { ...(params._meta as Data | undefined), [ORIGIN_META_KEY]: origin } },
  };
}
