/** Vitrine as itself: a client id and a secret, and nobody to ask (RFC 6749 4.4). Tokens are kept in memory only. */
import {
  AuthorizationServerMismatchError,
  type AuthProvider,
  ClientCredentialsProvider,
  discoverOAuthServerInfo,
  fetchToken,
  type OAuthTokens,
  selectResourceURL,
} from '@modelcontextprotocol/client';
import type { AuthTarget, ClientCredentialsConfig } from './config.ts';
import { endpointFetch } from './endpoints.ts';
import { headerSafe, isSameIssuer, noToken } from './failures.ts';
import { type Challenge, type HeldToken, renewalTime, renewingAuth } from './renewing.ts';

export function clientCredentialsAuth(config: ClientCredentialsConfig, target: AuthTarget): AuthProvider {
  const { mount } = target;
  const { clientId, clientSecret } = config;
  let held: HeldToken | undefined;
  let asked: Challenge = {};
  let issuer = config.issuer;

  const granted = async (challenge: Challenge): Promise<OAuthTokens> => {
    const fetchFn = endpointFetch(target.url);
    const { resourceMetadataUrl } = challenge;
    const server = await discoverOAuthServerInfo(target.url, {
      fetchFn,
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    });
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = server;
    const found = metadata?.issuer ?? authorizationServerUrl;
    if (issuer !== undefined && !isSameIssuer(issuer, found)) throw new AuthorizationServerMismatchError(issuer, found);
    const provider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      clientName: 'Vitrine',
      expectedIssuer: found,
    });
    // Refuses metadata that are about another resource. What is asked for is their text as it stands.
    const resource = (await selectResourceURL(target.url, provider, resourceMetadata)) && resourceMetadata?.resource;
    const scope = config.scope ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(' ');
    const tokens = await fetchToken(provider, authorizationServerUrl, {
      fetchFn,
      ...(metadata !== undefined && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && scope !== '' && { scope }),
    });
    // Who has seen the secret once is the only one who sees it from now on.
    issuer ??= found;
    return tokens;
  };

  return renewingAuth({
    held: async () => held,
    async renew(challenge) {
      asked = challenge ?? asked;
      held = undefined;
      try {
        const tokens = await granted(asked);
        held = { value: headerSafe(tokens.access_token, mount), renewAt: renewalTime(tokens) };
        return held;
      } catch (error) {
        throw noToken(mount, error);
      }
    },
  });
}
