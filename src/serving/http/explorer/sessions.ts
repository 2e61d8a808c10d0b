/**
 * People who have signed in to the explorer. A browser has a cookie, and the token stays here: where the cookie comes, it is put
 * into the request, which is then treated as if a client had sent it.
 */
import { hash, randomBytes } from 'node:crypto';
import { createRecent } from '../../auth/recent.ts';
import type { HttpRequest } from '../exchange.ts';

/** People who are signed in at a time; the one who came first has to sign in again for another. */
const MAX_SESSIONS = 10_000;

/** How long a token is kept that never expires, in milliseconds. */
const MAX_SESSION_MS = 12 * 60 * 60_000;

export interface Session {
  readonly token: string;
  /** Who that is, to be shown. */
  readonly name: string;
}

export interface Sessions {
  /** @param until when the token stops being good, in milliseconds since 1970. @returns the header that sets the cookie */
  open(session: Session, until: number | undefined): string;
  of(request: HttpRequest): Session | undefined;
  /** Forgets it. @returns the header that takes the cookie away */
  close(request: HttpRequest): string;
}

/** @param secure whether the cookie may go over TLS only */
export function createSessions(secure: boolean): Sessions {
  const sessions = createRecent<Session>(MAX_SESSIONS);
  const cookie = `${secure ? '__Host-' : ''}vitrine-session`;
  const keyOf = (id: string): string => hash('sha256', id);
  const idsIn = (request: HttpRequest): readonly string[] => cookiesIn(request, cookie);
  return {
    open(session, until = Number.POSITIVE_INFINITY) {
      const id = randomBytes(32).toString('base64url');
      sessions.set(keyOf(id), session, Math.min(until, Date.now() + MAX_SESSION_MS));
      return setCookie(cookie, id, secure);
    },
    of: (request) => idsIn(request).flatMap((id) => sessions.get(keyOf(id)) ?? [])[0],
    close(request) {
      for (const id of idsIn(request)) sessions.forget(keyOf(id));
      return setCookie(cookie, '', secure, 0);
    },
  };
}

/** Values of a cookie. */
export const cookiesIn = ({ headers }: HttpRequest, name: string): readonly string[] =>
  (headers.get('cookie') ?? '').split(/[;,]/).flatMap((each) => {
    const [found, value = ''] = each.trim().split('=', 2);
    return found === name && value !== '' ? [value] : [];
  });

/** @param seconds how long the browser keeps it. Default: until it ends */
export const setCookie = (name: string, value: string, secure: boolean, seconds?: number): string =>
  [
    `${name}=${value}; Path=/; HttpOnly; SameSite=Lax`,
    ...(secure ? ['Secure'] : []),
    ...(seconds === undefined ? [] : [`Max-Age=${seconds}`]),
  ].join('; ');

/** The same request with the token of its session. */
export function withToken(request: HttpRequest, { token }: Session): HttpRequest {
  const { headers } = request;
  return {
    method: request.method,
    url: request.url,
    get signal() {
      return request.signal;
    },
    headers: {
      get: (name) => (name.toLowerCase() === 'authorization' ? `Bearer ${token}` : headers.get(name)),
      has: (name) => name.toLowerCase() === 'authorization' || headers.has(name),
    },
    abort: (reason) => request.abort(reason),
    forget: () => request.forget?.(),
  };
}
