/** The keys of an authorization server: cached, fetched again when they change or have moved, and bounded. */
import type { JWTVerifyGetKey, RemoteJWKSet } from 'jose';
import { createAsking } from './asking.ts';
import type { MetadataSource } from './metadata.ts';
import { IssuerUnavailable } from './refused.ts';

/** Keys that have been taken back are accepted for this long at most, in milliseconds. */
export const KEYS_MAX_AGE_MS = 5 * 60_000;

/** A token with an unknown key has the keys fetched again, but not more often than this, in milliseconds. */
export const KEYS_COOLDOWN_MS = 30_000;

/**
 * @param jwksUri where they are; undefined asks the issuer's metadata, and asks that again when there is no key for a
 *   token at the place that it told
 * @throws IssuerUnavailable, and what `jose` throws where there is no key for the token, from the function
 */
export function createKeys(issuer: string, jwksUri: string | undefined, metadata: MetadataSource): JWTVerifyGetKey {
  let current: { readonly uri: string; readonly keys: RemoteJWKSet } | undefined;

  async function keysAt(uri: string): Promise<RemoteJWKSet> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    if (current?.uri === uri) return current.keys;
    // A place of its own: that the former one did not answer says nothing about this one.
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
      const elsewhere = error instanceof errors.JWKSNoMatchingKey || error instanceof IssuerUnavailable;
      const moved = elsewhere && jwksUri === undefined ? (await metadata.again()).jwks_uri : undefined;
      if (moved === undefined || moved === uri) throw error;
      return (await keysAt(moved))(header, token);
    }
  };
}
