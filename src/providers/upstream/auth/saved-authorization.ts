/**
 * While the gateway runs, uses the tokens that `vitrine authorize` has saved: reads them from their file, and renews them with
 * the refresh token. It never asks the user or opens a browser; without valid tokens a request fails and says what to run.
 */
import { type AuthProvider, type OAuthTokens, refreshAuthorization } from '@modelcontextprotocol/client';
import type { AuthTarget, OAuthConfig } from './config.ts';
import { endpointFetch } from './endpoints.ts';
import { headerSafe, isFinal, isSameIssuer, needsAuthorization, noToken } from './failures.ts';
import { type HeldToken, isDue, renewalTime, renewingAuth } from './renewing.ts';
import { type SavedAuthorization, type TokenFile, tokenFile } from './token-file.ts';

/**
 * How long a token is used before its file is checked again, in milliseconds: the user may have authorized Vitrine again, perhaps
 * for more scopes.
 */
const RECHECK_MS = 5_000;

export function savedAuthorization(config: OAuthConfig, target: AuthTarget): AuthProvider {
  const { mount } = target;
  const file = tokenFile(target);
  let held: HeldToken | undefined;
  let latest: string | undefined;
  let readAt = 0;

  const hold = (saved: SavedAuthorization | undefined): HeldToken => {
    if (saved?.tokens === undefined) throw needsAuthorization(mount);
    held = { value: headerSafe(saved.tokens.access_token, mount), renewAt: saved.renewAt };
    latest = held.value;
    readAt = Date.now();
    return held;
  };

  return renewingAuth({
    async held() {
      const isFresh = Date.now() - readAt < RECHECK_MS;
      return held !== undefined && isFresh ? held : hold(await usable(file, config));
    },
    renew: () =>
      file.exclusively(async () => {
        held = undefined;
        const saved = await usable(file, config);
        if (saved?.tokens === undefined) throw needsAuthorization(mount);
        // Another process renewed first: only its refresh token is still valid.
        if (saved.tokens.access_token !== latest && !isDue(saved)) return hold(saved);
        return hold(await refreshed(saved, config, target, file));
      }),
  });
}

/** Returns the saved authorization, unless the configuration names another client or authorization server now. */
async function usable(file: TokenFile, { clientId, issuer }: OAuthConfig): Promise<SavedAuthorization | undefined> {
  const saved = await file.load();
  if (saved === undefined) return undefined;
  if (clientId !== undefined && clientId !== saved.client.client_id) return undefined;
  if (issuer !== undefined && !isSameIssuer(issuer, saved.tokens?.issuer ?? '')) return undefined;
  return saved;
}

async function refreshed(
  saved: SavedAuthorization,
  { clientSecret }: OAuthConfig,
  { mount, url }: AuthTarget,
  file: TokenFile,
): Promise<SavedAuthorization> {
  const { server, client, resource, tokens: old } = saved;
  if (old?.refresh_token === undefined) throw needsAuthorization(mount);
  const { authorizationServerUrl, authorizationServerMetadata: metadata } = server;
  let fresh: OAuthTokens;
  try {
    fresh = await refreshAuthorization(authorizationServerUrl, {
      clientInformation: { ...client, ...(clientSecret !== undefined && { client_secret: clientSecret }) },
      refreshToken: old.refresh_token,
      fetchFn: endpointFetch(url),
      ...(metadata !== undefined && { metadata }),
      ...(resource !== undefined && { resource }),
    });
  } catch (error) {
    if (!isFinal(error)) throw noToken(mount, error);
    await file.save({ ...saved, tokens: undefined, renewAt: undefined });
    throw needsAuthorization(mount, error);
  }
  const tokens = { ...fresh, ...(old.issuer !== undefined && { issuer: old.issuer }) };
  const renewed = { ...saved, tokens, renewAt: renewalTime(fresh) };
  await file.save(renewed);
  return renewed;
}
