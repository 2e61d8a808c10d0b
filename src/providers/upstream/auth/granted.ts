/** Vitrine at an upstream without anybody to ask. Tokens are kept in memory only, and another one is asked for when one is over. */
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

/** The endpoint that gives tokens, and the resource that they are for. */
export interface GrantedFor {
  readonly issuer: string;
  /** The upstream, as it calls itself. */
  readonly resource: string | undefined;
  readonly fetchFn: FetchLike;
}

/** @param clientFor how Vitrine shows the authorization server who it is, and what it asks it for */
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
    // Refuses metadata that are about another resource. What is asked for is their text as it stands.
    const resource = (await selectResourceURL(url, provider, resourceMetadata)) && said;
    const scope = config.scope ?? wanted ?? resourceMetadata?.scopes_supported?.join(' ');
    const tokens = await fetchToken(provider, authorizationServerUrl, {
      fetchFn,
      ...(metadata !== undefined && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && scope !== '' && { scope }),
    });
    // Who has seen the secret once is the only one who sees it from now on.
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
