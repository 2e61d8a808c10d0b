/**
 * Keeps the sessions of people who have signed in to the explorer. The browser has a cookie, and the token stays in this process.
 * A request with the cookie gets the token, and is then treated like a request of a client.
 */
import { hash, randomBytes } from 'node:crypto';
import { createRecent } from '../../auth/recent.ts';
import { cookiesIn } from '../cookies.ts';
import type { HttpRequest } from '../exchange.ts';

/** The most sessions. A further session ends the oldest one, whose person has to sign in again. */
const MAX_SESSIONS = 10_000;

/** The longest time that a session lasts, in milliseconds. It ends earlier if its token expires. */
const MAX_SESSION_MS = 12 * 60 * 60_000;

export interface Session {
  readonly token: string;
  /** The name of the person, for display. */
  readonly name: string;
}

export interface Sessions {
  /** Begins a session. @param until when its token expires, in milliseconds since 1970 @returns the value of `Set-Cookie` */
  open(session: Session, until: number | undefined): string;
  /** The session of a request, by its cookie. */
  of(request: HttpRequest): Session | undefined;
  /** Ends the session of a request. @returns the value of `Set-Cookie` that deletes the cookie */
  close(request: HttpRequest): string;
}

/** @param secure whether browsers send the cookie only over TLS */
export function createSessions(secure: boolean): Sessions {
  const sessions = createRecent<Session>(MAX_SESSIONS);
  const cookie = `${secure ? '__Host-' : ''}vitrine-session`;
  const keyOf = (id: string): string => hash('sha256', id);
  const idsIn = (request: HttpRequest): readonly string[] => cookiesIn(request.headers.get('cookie'), cookie);
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

/** The value of `Set-Cookie`. @param seconds how long the browser keeps the cookie. Default: until the browser is closed */
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
