/**
 * Gives the SDK's client what it needs to run one authorization code flow. Everything about the flow is in memory, the code
 * verifier too, until it has succeeded: one that is given up leaves nothing behind and spoils nothing that was kept.
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
  /** Returns the authorization to keep; undefined before the flow has succeeded. */
  result(): Omit<SavedAuthorization, 'url'> | undefined;
}

export interface CodeFlowOptions {
  readonly config: OAuthConfig;
  readonly redirectUrl: string;
  /** Comes back with the answer, and shows that it belongs to this flow. */
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

  // A client that was registered by hand is as it is: the SDK registers one only where it can keep it.
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
      if (verifier === undefined) throw new ResourceError('internal', 'An authorization ended that had not begun');
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
      // Who the user is, is nobody's business here.
      const { id_token: _user, ...kept } = tokens;
      return { server, client, resource, tokens: kept, renewAt: renewalTime(tokens) };
    },
  };
}
