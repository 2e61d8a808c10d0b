/** Authorizes Vitrine at an upstream without a user. Tokens are kept in memory only, and an expired one is replaced. */
import {
  AuthorizationServerMismatchError,
  type AuthProvider,
  discoverOAuthServerInfo,
  type FetchLike,
  fetchToken,
  type OAuthClientProvider,
  selectResourceURL,
} from '@modelcontextprotocol/client';
import type { AuthTarget } from './config.ts';
import { endpointFetch } from './endpoints.ts';
import { headerSafe, isSameIssuer, noToken } from './failures.ts';
import { type Challenge, type HeldToken, renewalTime, renewingAuth } from './renewing.ts';

/** The endpoint that gives tokens, and the resource that the tokens are for. */
export interface GrantedFor {
  readonly issuer: string;
  /** The identifier that the upstream uses for itself. */
  readonly resource: string | undefined;
  readonly fetchFn: FetchLike;
}

/** @param clientFor how Vitrine authenticates at the authorization server, and which scopes it requests */
export function grantedAuth(
  { mount, url }: AuthTarget,
  config: { readonly issuer?: string | undefined; readonly scope?: string | undefined },
  clientFor: (found: GrantedFor) => OAuthClientProvider,
): AuthProvider {
  const fetchFn = endpointFetch(url);
  let held: HeldToken | undefined;
  let asked: Challenge = {};
  let { issuer } = config;

  async function granted({ resourceMetadataUrl, scope: wanted }: Challenge): Promise<HeldToken> {
    const server = await discoverOAuthServerInfo(url, {
      fetchFn,
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    });
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = server;
    const found = metadata?.issuer ?? authorizationServerUrl;
    if (issuer !== undefined && !isSameIssuer(issuer, found)) throw new AuthorizationServerMismatchError(issuer, found);
    const said = resourceMetadata?.resource;
    const provider = clientFor({ issuer: found, resource: said, fetchFn });
    // Refuses metadata about another resource. The request uses the text of the metadata unchanged.
    const resource = (await selectResourceURL(url, provider, resourceMetadata)) && said;
    const scope = config.scope ?? wanted ?? resourceMetadata?.scopes_supported?.join(' ');
    const tokens = await fetchToken(provider, authorizationServerUrl, {
      fetchFn,
      ...(metadata !== undefined && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && scope !== '' && { scope }),
    });
    // From now on the secret goes to this authorization server only.
    issuer ??= found;
    return { value: headerSafe(tokens.access_token, mount), renewAt: renewalTime(tokens) };
  }

  return renewingAuth({
    held: async () => held,
    async renew(challenge) {
      asked = challenge ?? asked;
      held = undefined;
      try {
        held = await granted(asked);
        return held;
      } catch (error) {
        throw noToken(mount, error);
      }
    },
  });
}
