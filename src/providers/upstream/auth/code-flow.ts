/**
 * Gives the SDK's client its state for one authorization code flow. All state, the code verifier too, stays in memory
 * until the flow succeeds. An abandoned flow leaves nothing behind and damages no saved authorization.
 */
import {
  AuthorizationServerMismatchError,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { ResourceError } from '../../../core/errors.ts';
import type { OAuthConfig } from './config.ts';
import { isSameIssuer } from './failures.ts';
import { renewalTime } from './renewing.ts';
import type { SavedAuthorization } from './token-file.ts';

export interface CodeFlow {
  readonly provider: OAuthClientProvider;
  /** Returns the authorization to save; undefined before the flow has succeeded. */
  result(): Omit<SavedAuthorization, 'url'> | undefined;
}

export interface CodeFlowOptions {
  readonly config: OAuthConfig;
  readonly redirectUrl: string;
  /** The `state` parameter: it comes back with the answer, and proves that the answer belongs to this flow. */
  readonly state: string;
  readonly onAddress: (address: URL) => void;
}

export function codeFlow({ config, redirectUrl, state, onAddress }: CodeFlowOptions): CodeFlow {
  const { clientId, clientSecret, clientMetadataUrl, issuer, scope } = config;
  let server: OAuthDiscoveryState | undefined;
  let registered: StoredOAuthClientInformation | undefined;
  let resource: string | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier: string | undefined;

  // A client that was registered by hand is used unchanged. The SDK registers a new one only where it can save it.
  const registration: Pick<OAuthClientProvider, 'clientInformation' | 'saveClientInformation'> =
    clientId === undefined
      ? {
          clientInformation: () => registered,
          saveClientInformation: (client) => {
            registered = client;
          },
        }
      : { clientInformation: () => ({ client_id: clientId, ...(clientSecret && { client_secret: clientSecret }) }) };

  const provider: OAuthClientProvider = {
    ...registration,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl,
    clientMetadata: {
      client_name: 'Vitrine',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scope !== undefined && { scope }),
    },
    state: () => state,
    tokens: () => undefined,
    saveTokens: (obtained) => {
      tokens = obtained;
    },
    redirectToAuthorization: onAddress,
    saveCodeVerifier: (made) => {
      verifier = made;
    },
    codeVerifier: () => {
      if (verifier === undefined) throw new ResourceError('internal', 'The authorization ended before it began');
      return verifier;
    },
    discoveryState: () => server,
    saveDiscoveryState: (found) => {
      const name = found.authorizationServerMetadata?.issuer ?? found.authorizationServerUrl;
      if (issuer !== undefined && !isSameIssuer(issuer, name)) throw new AuthorizationServerMismatchError(issuer, name);
      server = found;
    },
    saveResourceUrl: (url) => {
      resource = url;
    },
  };

  return {
    provider,
    result() {
      if (server === undefined || tokens === undefined) return undefined;
      const client = clientId === undefined ? registered : { client_id: clientId };
      if (client === undefined) return undefined;
      // The user's identity is not needed.
      const { id_token: _user, ...kept } = tokens;
      return { server, client, resource, tokens: kept, renewAt: renewalTime(tokens) };
    },
  };
}
