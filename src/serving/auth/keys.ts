/** Fetches the keys of an authorization server and caches them. Fetches them again when they have changed or moved. */
import type { JWTVerifyGetKey, RemoteJWKSet } from 'jose';
import { createAsking } from './asking.ts';
import type { MetadataSource } from './metadata.ts';
import { IssuerUnavailable } from './refused.ts';

/** How long keys are cached, in milliseconds. A key that the issuer has withdrawn may still be accepted during this time. */
export const KEYS_MAX_AGE_MS = 5 * 60_000;

/** The shortest time between two fetches of the keys, in milliseconds. A token with an unknown key causes a fetch. */
export const KEYS_COOLDOWN_MS = 30_000;

/**
 * Returns a function that finds the key of a token. The function throws IssuerUnavailable, or the error of `jose` if the issuer
 * has no key for the token.
 * @param jwksUri the URL of the keys. Default: the URL in the issuer's metadata, which is fetched again when the URL does
 *   not answer, or has no key for a token
 */
export function createKeys(issuer: string, jwksUri: string | undefined, metadata: MetadataSource): JWTVerifyGetKey {
  let current: { readonly uri: string; readonly keys: RemoteJWKSet } | undefined;

  async function keysAt(uri: string): Promise<RemoteJWKSet> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    if (current?.uri === uri) return current.keys;
    // Each URL has its own pause after a failure: a failure of the former URL says nothing about this one.
    const ask = createAsking(issuer, (status) => status === 200);
    const keys = createRemoteJWKSet(new URL(uri), {
      cacheMaxAge: KEYS_MAX_AGE_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      [customFetch]: (url: string, init: RequestInit) => ask(url, init),
    });
    current = { uri, keys };
    return keys;
  }

  return async (header, token) => {
    const uri = jwksUri ?? (await metadata.get()).jwks_uri;
    if (uri === undefined) throw new IssuerUnavailable(`${issuer} does not say where its keys are`);
    const keys = await keysAt(uri);
    try {
      return await keys(header, token);
    } catch (error) {
      const { errors } = await import('jose');
      const mayHaveMoved = error instanceof errors.JWKSNoMatchingKey || error instanceof IssuerUnavailable;
      const moved = mayHaveMoved && jwksUri === undefined ? (await metadata.again()).jwks_uri : undefined;
      if (moved === undefined || moved === uri) throw error;
      return (await keysAt(moved))(header, token);
    }
  };
}
