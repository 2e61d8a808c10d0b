/** Authorizes HTTP requests for a resource server: finds the principal of each request, or refuses it and says why. */
import { ANONYMOUS, type Log, type Principal } from '../../core/context.ts';
import type { HttpAnswer, HttpRequest } from '../http/exchange.ts';
import { type AuthError, createChallenges, type Scheme } from './challenge.ts';
import type { Verified } from './claims.ts';
import { createProofs } from './dpop.ts';
import type { AuthFailure } from './failures.ts';
import { type AuthOptions, assertAuthOptions, DEFAULT_ALGORITHMS } from './options.ts';
import { IssuerUnavailable, TokenRefused } from './refused.ts';
import { createVerifier } from './verify.ts';

export type { AuthOptions } from './options.ts';

/** The path of the metadata of a protected resource (RFC 9728 3); the resource's own path may follow. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/**
 * The paths of the metadata: `METADATA_PATH` followed by the path of the resource, which clients request first, and without it.
 */
export function metadataPaths({ resource }: Pick<AuthOptions, 'resource'>): readonly string[] {
  const { pathname } = new URL(resource);
  return pathname === '/' ? [METADATA_PATH] : [METADATA_PATH + pathname, METADATA_PATH];
}

/** The Authorization header with a token (RFC 6750 2.1, RFC 9449 7.1). Schemes are case-insensitive. */
const SHOWN = /^(Bearer|DPoP) +([A-Za-z0-9._~+/-]+=*)$/i;

/** The principal of a request, and until when its token is valid. */
export interface Authenticated {
  readonly principal: Principal;
  /** When the token expires, in milliseconds since 1970. Default: never, or the request had no token. */
  readonly expiresAt?: number | undefined;
}

/** A token with its scheme, and the request that it came with. */
interface Shown {
  readonly request: HttpRequest;
  readonly scheme: Scheme;
  readonly token: string;
  readonly from: string | undefined;
}

export interface Authorization {
  /**
   * Returns the principal of a request, or the response that refuses it. The result is a promise only if the token has to be
   * verified asynchronously.
   * @param from the address that the request came from
   */
  authenticate(request: HttpRequest, from?: string): Authenticated | HttpAnswer | Promise<Authenticated | HttpAnswer>;
  /** Refuses a request whose token lacks scopes, and names them. A request without a token is asked for one. */
  insufficient(request: HttpRequest, principal: Principal, scopes: readonly string[]): HttpAnswer;
  /** Answers a request for the metadata of the resource; returns undefined for any other request. */
  metadata(request: HttpRequest): HttpAnswer | undefined;
}

/**
 * @param failed called for each request that was refused although it had a token, or something meant as one
 * @throws ResourceError `invalid`
 */
export function createAuthorization(
  options: AuthOptions,
  log: Log,
  failed: (reason: AuthFailure, from?: string) => void = () => {},
): Authorization {
  assertAuthOptions(options);
  const { resource, scopes = [], anonymous = false, dpop } = options;
  const paths = metadataPaths(options);
  const challenges = createChallenges(new URL(paths[0] ?? METADATA_PATH, resource).href, options);
  const verify = createVerifier(options);
  const prove = createProofs(options);
  const document = JSON.stringify(metadataOf(options));

  /**
   * A token that is bound to a key needs the scheme `DPoP` and a proof. Any other needs `Bearer`, and is refused if DPoP is
   * required.
   */
  function proven({ request, scheme, token }: Shown, verified: Verified): Verified | Promise<Verified> {
    const { key, principal } = verified;
    if (scheme === 'DPoP') {
      if (key === undefined) throw new TokenRefused('The token is bound to no key, and cannot be used with DPoP');
      return prove(request, token, key, principal.id).then(() => verified);
    }
    if (key !== undefined) throw new TokenRefused('The token is bound to a key, and cannot be used as a bearer token');
    if (dpop?.required === true)
      throw new TokenRefused('The token has to be bound to a key of its client, as with DPoP');
    return verified;
  }

  function verifyShown(shown: Shown): Verified | Promise<Verified> {
    const verified = verify(shown.token, shown);
    return verified instanceof Promise ? verified.then((result) => proven(shown, result)) : proven(shown, verified);
  }

  function admit({ scheme, from }: Shown, { principal, expiresAt }: Verified): Authenticated | HttpAnswer {
    if (scopes.every((scope) => principal.scopes?.includes(scope))) return { principal, expiresAt };
    return refuse(from, 'insufficient_scope', 'The token does not have every scope that is needed', scheme);
  }

  function refuse(from: string | undefined, error: AuthError, description: string, scheme?: Scheme): HttpAnswer {
    failed(error, from);
    return challenges.refused(error, description, scheme);
  }

  function refusalFor({ scheme, from }: Shown, error: unknown): HttpAnswer {
    if (error instanceof TokenRefused) {
      log.debug('a token was refused', { reason: error.message });
      return refuse(from, error.error, error.message, scheme);
    }
    const { message, cause } = error instanceof IssuerUnavailable ? error : { message: 'unexpected', cause: error };
    log.error('a token could not be verified', { reason: message, error: cause });
    failed('unavailable', from);
    return challenges.unavailable();
  }

  return {
    authenticate(request, from) {
      if (request.url.includes('access_token') && new URL(request.url).searchParams.has('access_token')) {
        return refuse(from, 'invalid_request', 'A token goes into the Authorization header, never into the URL');
      }
      const header = request.headers.get('authorization');
      if (header === null && anonymous) return { principal: ANONYMOUS };
      if (header === null || !/^(?:Bearer|DPoP)\b/i.test(header)) return challenges.needed();
      const scheme = /^DPoP\b/i.test(header) ? 'DPoP' : 'Bearer';
      const token = SHOWN.exec(header)?.[2];
      if (token === undefined) {
        return refuse(from, 'invalid_request', 'The Authorization header is malformed', scheme);
      }
      const shown: Shown = { request, scheme, token, from };
      try {
        const verified = verifyShown(shown);
        if (!(verified instanceof Promise)) return admit(shown, verified);
        return verified.then((result) => admit(shown, result)).catch((error: unknown) => refusalFor(shown, error));
      } catch (error) {
        return refusalFor(shown, error);
      }
    },
    insufficient(request, principal, needed) {
      if (principal.id === ANONYMOUS.id) return challenges.needed();
      return challenges.insufficient(
        needed,
        /^DPoP\b/i.test(request.headers.get('authorization') ?? '') ? 'DPoP' : 'Bearer',
      );
    },
    metadata(request) {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (!isRead || !paths.includes(new URL(request.url).pathname)) return undefined;
      const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' };
      return { status: 200, headers, body: document };
    },
  };
}

/** The metadata that clients read about the resource (RFC 9728 2). */
function metadataOf({ resource, issuers = [], scopes = [], dpop }: AuthOptions): object {
  return {
    resource,
    authorization_servers: issuers.map(({ issuer }) => issuer),
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    ...(issuers.length > 0 && { dpop_signing_alg_values_supported: dpop?.algorithms ?? DEFAULT_ALGORITHMS }),
    ...(dpop?.required === true && { dpop_bound_access_tokens_required: true }),
  };
}
