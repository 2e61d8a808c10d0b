/** Signs people in to the explorer, and out of it: handles the addresses of the sign-in. */
import type { Log } from '../../../core/context.ts';
import { SIGN_IN_PATH, SIGN_OUT_PATH } from '../../../frontends/explorer/address.ts';
import type { AuthOptions } from '../../auth/index.ts';
import { IssuerUnavailable } from '../../auth/refused.ts';
import { createSignIn, SIGN_IN_SECONDS, type SignInOptions, SignInRefused } from '../../auth/sign-in.ts';
import { cookiesIn } from '../cookies.ts';
import type { EndpointCore } from '../endpoint.ts';
import type { HttpRequest, PageAnswer } from '../exchange.ts';
import { createSessions, type Session, setCookie, withToken } from './sessions.ts';

const SIGNED_IN_PATH = '/explorer/signed-in';
const SIGNED_OUT_PATH = '/explorer/signed-out';

/** The most characters of an address to return to; for a longer one, the person returns to the first page. */
const MAX_BACK = 1_024;

export interface SigningIn {
  /**
   * Returns the session of a browser; undefined where there is none, or where the request has its own token.
   * @param looks whether the request is for a page: another site may link to a page, but must not call the endpoint
   */
  sessionOf(request: HttpRequest, looks: boolean): Session | undefined;
  /**
   * Redirects a person without a valid session to the issuer. Returns undefined for a program, or a request with its own token.
   */
  begin(request: HttpRequest): Promise<PageAnswer | undefined>;
  /** Answers at the sign-in's own addresses; returns undefined at any other. */
  answer(request: HttpRequest, from: string | undefined): Promise<PageAnswer | undefined>;
}

export interface SigningInSetup {
  readonly options: SignInOptions;
  readonly auth: AuthOptions;
  readonly core: EndpointCore;
  readonly log: Log;
  /** Whether an address is a page of the explorer, to which people may return. */
  readonly isPage: (path: string) => boolean;
  /** Makes a page that explains the outcome. @param reason a key of `PROBLEMS` */
  readonly say: (reason: string, said?: string) => PageAnswer;
}

/** @throws ResourceError `invalid` */
export function createSigningIn({ options, auth, core, log, isPage, say }: SigningInSetup): SigningIn {
  const { origin, protocol } = new URL(auth.resource);
  const secure = protocol === 'https:';
  const signIn = createSignIn(options, auth, `${origin}${SIGNED_IN_PATH}`);
  const sessions = createSessions(secure);
  const pending = `${secure ? '__Host-' : ''}vitrine-sign-in`;

  /** Whether a page of this server has made the request, according to the browser. */
  function isOfOwnPage({ headers }: HttpRequest): boolean {
    const site = headers.get('sec-fetch-site');
    const from = headers.get('origin');
    // Forms of pages that send no referrer send `null` as their origin.
    if (site !== null) return site === 'same-origin' && (from === null || from === 'null' || from === origin);
    return from === origin;
  }

  const pageOf = (address: string): string => (address.length <= MAX_BACK && isPage(address) ? address : '/');

  async function beginTo(address: string): Promise<PageAnswer> {
    try {
      const { location, sealed } = await signIn.begin(pageOf(address));
      const headers = { Location: location, 'Set-Cookie': setCookie(pending, sealed, secure, SIGN_IN_SECONDS) };
      return { status: 303, headers: { ...headers, 'Cache-Control': 'no-store' } };
    } catch (error) {
      return failed(error);
    }
  }

  function failed(error: unknown): PageAnswer {
    if (error instanceof SignInRefused) {
      log.debug('a sign-in was refused', { reason: error.message, error: error.cause });
      return say('sign-in', error.message);
    }
    if (!(error instanceof IssuerUnavailable)) throw error;
    log.error('nobody can sign in', { reason: error.message, error: error.cause });
    return say('unavailable', 'The issuer of tokens does not answer');
  }

  async function finish(request: HttpRequest, query: URLSearchParams, from: string | undefined): Promise<PageAnswer> {
    try {
      const { token, back } = await signIn.finish(query, cookiesIn(request.headers.get('cookie'), pending)[0] ?? '');
      const entering = await core.admit(withToken(request, { token, name: '' }), from);
      if ('status' in entering)
        return say(
          entering.status === 503 ? 'unavailable' : 'sign-in',
          'This server does not accept the token that the issuer gave',
        );
      const { principal, expiresAt } = entering;
      sessions.close(request);
      const cookie = sessions.open({ token, name: principal.subject ?? principal.id }, expiresAt);
      return { status: 303, headers: { Location: back, 'Set-Cookie': cookie, 'Cache-Control': 'no-store' } };
    } catch (error) {
      return failed(error);
    }
  }

  return {
    sessionOf(request, looks) {
      if (request.headers.has('authorization')) return undefined;
      return looks || isOfOwnPage(request) ? sessions.of(request) : undefined;
    },
    async begin(request) {
      const { headers, method, url } = request;
      const mode = headers.get('sec-fetch-mode') ?? 'navigate';
      const isPerson = method === 'GET' && mode === 'navigate' && /\btext\/html\b/.test(headers.get('accept') ?? '');
      if (!isPerson || headers.has('authorization')) return undefined;
      sessions.close(request);
      const { pathname, search } = new URL(url);
      return beginTo(pathname + search);
    },
    async answer(request, from) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === SIGN_OUT_PATH) {
        if (request.method !== 'POST' || !isOfOwnPage(request)) return say('origin');
        return { status: 303, headers: { Location: SIGNED_OUT_PATH, 'Set-Cookie': sessions.close(request) } };
      }
      if (pathname === SIGN_IN_PATH) return beginTo(searchParams.get('to') ?? '/');
      if (pathname === SIGNED_IN_PATH) return finish(request, searchParams, from);
      return pathname === SIGNED_OUT_PATH ? say('signed-out') : undefined;
    },
  };
}
