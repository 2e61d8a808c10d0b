/** Authorization over HTTP for a resource server: each request gets a principal, or the refusal that says why not. */
import { ANONYMOUS, type Log, type Principal } from '../../core/context.ts';
import { createChallenges } from './challenge.ts';
import { createJwtVerifier } from './jwt.ts';
import { type AuthOptions, assertAuthOptions } from './options.ts';
import { KeysUnavailable, TokenRefused } from './refused.ts';
import { createStaticTokens } from './static-tokens.ts';

export type { AuthOptions } from './options.ts';

/** Where metadata of a protected resource is (RFC 9728 3); the resource's own path may follow. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Paths at which the metadata of a resource is: with its own path, which clients ask for first, and without. */
export function metadataPaths({ resource }: Pick<AuthOptions, 'resource'>): readonly string[] {
  const { pathname } = new URL(resource);
  return pathname === '/' ? [METADATA_PATH] : [METADATA_PATH + pathname, METADATA_PATH];
}

/** RFC 6750 2.1; the scheme is case-insensitive. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

export interface Authorization {
  /** The principal of a request, or the response that refuses it. */
  authenticate(request: Request): Promise<Principal | Response>;
  /** The metadata of the resource where the request asks for it; undefined for any other. */
  metadata(request: Request): Response | undefined;
}

/** @throws ResourceError `invalid` */
export function createAuthorization(options: AuthOptions, log: Log): Authorization {
  assertAuthOptions(options);
  const { resource, issuers = [], tokens = [], scopes = [], anonymous = false } = options;
  const paths = metadataPaths(options);
  const challenges = createChallenges(new URL(paths[0] ?? METADATA_PATH, resource).href, scopes);
  const staticToken = createStaticTokens(tokens);
  const verify = createJwtVerifier(options);
  const document = JSON.stringify({
    resource,
    authorization_servers: issuers.map(({ issuer }) => issuer),
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  });

  async function principalOf(token: string): Promise<Principal | Response> {
    try {
      return staticToken(token) ?? (await verify(token));
    } catch (error) {
      if (error instanceof TokenRefused) {
        log.debug('a token was refused', { reason: error.message });
        return challenges.refused('invalid_token', error.message);
      }
      const { message, cause } = error instanceof KeysUnavailable ? error : { message: 'unexpected', cause: error };
      log.error('a token could not be verified', { reason: message, error: cause });
      return challenges.unavailable();
    }
  }

  return {
    async authenticate(request) {
      if (request.url.includes('access_token') && new URL(request.url).searchParams.has('access_token')) {
        return challenges.refused('invalid_request', 'A token goes into the Authorization header, never into the URL');
      }
      const header = request.headers.get('authorization');
      if (header === null && anonymous) return ANONYMOUS;
      if (header === null || !/^Bearer\b/i.test(header)) return challenges.needed();
      const token = BEARER.exec(header)?.[1];
      if (token === undefined) return challenges.refused('invalid_request', 'The Authorization header is malformed');
      const principal = await principalOf(token);
      if (principal instanceof Response) return principal;
      if (scopes.every((scope) => principal.scopes?.includes(scope))) return principal;
      return challenges.refused('insufficient_scope', 'The token does not have every scope that is needed');
    },
    metadata(request) {
      const looks = request.method === 'GET' || request.method === 'HEAD';
      if (!looks || !paths.includes(new URL(request.url).pathname)) return undefined;
      return new Response(document, {
        headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' },
      });
    },
  };
}
