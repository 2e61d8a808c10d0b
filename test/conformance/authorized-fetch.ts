/**
 * A `fetch` that gets a token when a server answers 401 or 403. The authorization servers of the scenarios let everybody in, so
 * one request stands for the browser: the code is in the redirect that answers it.
 */
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  isStrictScopeSuperset,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';

const REDIRECT = 'http://127.0.0.1:3000/callback';
/** By the rules of the suite, the metadata of this client has this address. */
const CLIENT_METADATA = 'https://conformance-test.local/client-metadata.json';
/** The most challenges that are answered for one request. */
const MAX_CHALLENGES = 3;

interface Registered {
  readonly client_id?: string;
  readonly client_secret?: string;
}

interface Person extends OAuthClientProvider {
  /** Returns the code and the issuer of the last redirect, only once. @throws Error if there is no code */
  returned(): { readonly authorizationCode: string; readonly iss: string | undefined };
}

function person({ client_id, client_secret }: Registered): Person {
  let client: OAuthClientInformationMixed | undefined =
    client_id === undefined
      ? undefined
      : { client_id, ...(client_secret !== undefined && { client_secret }), redirect_uris: [REDIRECT] };
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  let back: URL | undefined;
  return {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'vitrine-conformance', redirect_uris: [REDIRECT] },
    ...(client_id === undefined && { clientMetadataUrl: CLIENT_METADATA }),
    clientInformation: () => client,
    saveClientInformation(saved) {
      client = saved;
    },
    tokens: () => tokens,
    saveTokens(saved) {
      tokens = saved;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier(saved) {
      verifier = saved;
    },
    discoveryState: () => discovered,
    saveDiscoveryState(saved) {
      discovered = saved;
    },
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
      if (scope === 'all' || scope === 'discovery') discovered = undefined;
    },
    async redirectToAuthorization(address) {
      const response = await fetch(address, { redirect: 'manual' });
      const location = response.headers.get('location');
      if (location === null) throw new Error(`No redirect came back: ${response.status}`);
      back = new URL(location);
    },
    returned() {
      const { searchParams } = back ?? new URL(REDIRECT);
      back = undefined;
      const authorizationCode = searchParams.get('code');
      if (authorizationCode === null) throw new Error('No code came back');
      return { authorizationCode, iss: searchParams.get('iss') ?? undefined };
    },
  };
}

/**
 * @param registered the client that the authorization server already knows; without a `client_id` there is none, and the client
 *   introduces itself by its metadata
 */
export function authorizedFetch(serverUrl: string, registered: Registered): typeof globalThis.fetch {
  const provider = person(registered);

  async function answer(challenge: Response): Promise<void> {
    const { resourceMetadataUrl, scope: wanted } = extractWWWAuthenticateParams(challenge);
    const before = (await provider.tokens())?.scope;
    const scope = challenge.status === 403 ? computeScopeUnion(before, wanted) : wanted;
    // A server that refuses the token may use another authorization server by now.
    if (challenge.status === 401) await provider.invalidateCredentials?.('discovery');
    const how = {
      serverUrl,
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    };
    const forceReauthorization = isStrictScopeSuperset(scope, before);
    if ((await auth(provider, { ...how, forceReauthorization })) === 'REDIRECT') {
      const { authorizationCode, iss } = provider.returned();
      await auth(provider, { ...how, authorizationCode, ...(iss !== undefined && { iss }) });
    }
  }

  return async (address, init) => {
    for (let challenges = 0; ; challenges++) {
      const headers = new Headers(init?.headers);
      const token = (await provider.tokens())?.access_token;
      if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
      const response = await fetch(address, { ...init, headers });
      if ((response.status !== 401 && response.status !== 403) || challenges === MAX_CHALLENGES) return response;
      await response.body?.cancel();
      await answer(response);
    }
  };
}
