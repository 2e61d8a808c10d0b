/** The keys of an authorization server: found by its metadata, cached, fetched again when they change, and bounded. */
import type { RemoteJWKSet } from 'jose';
import { KeysUnavailable } from './refused.ts';

/** Keys that have been taken back are accepted for this long at most, in milliseconds. */
export const KEYS_MAX_AGE_MS = 5 * 60_000;

/** A token with an unknown key has the keys fetched again, but not more often than this, in milliseconds. */
export const KEYS_COOLDOWN_MS = 30_000;

/** After a failure nothing is asked of the server for this long, in milliseconds. */
export const FAILURE_COOLDOWN_MS = 5_000;

const FETCH_TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 256 * 1024;

export type Keys = () => Promise<RemoteJWKSet>;

/** @param jwksUri where they are; undefined asks the issuer's metadata, once */
export function createKeys(issuer: string, jwksUri: string | undefined): Keys {
  let failedAt = Number.NEGATIVE_INFINITY;
  let resolving: Promise<RemoteJWKSet> | undefined;

  /** @param missing whether a document that is not there is an answer, too */
  async function bounded(url: string, init: RequestInit, missing: boolean): Promise<Response> {
    if (Date.now() - failedAt < FAILURE_COOLDOWN_MS) throw new KeysUnavailable(`${issuer} did not answer just now`);
    try {
      const response = await fetchDocument(url, init);
      if (response.ok || (missing && response.status < 500)) return response;
      throw new Error(`status ${response.status}`);
    } catch (cause) {
      failedAt = Date.now();
      throw new KeysUnavailable(`${issuer} does not give its keys`, { cause });
    }
  }

  async function resolve(): Promise<RemoteJWKSet> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const uri = jwksUri ?? (await discover(issuer, (url, init) => bounded(url, init, true)));
    return createRemoteJWKSet(new URL(uri), {
      cacheMaxAge: KEYS_MAX_AGE_MS,
      cooldownDuration: KEYS_COOLDOWN_MS,
      timeoutDuration: FETCH_TIMEOUT_MS,
      [customFetch]: (url: string, init: RequestInit) => bounded(url, init, false),
    });
  }

  return () => {
    if (resolving !== undefined) return resolving;
    const begun = resolve();
    resolving = begun;
    begun.catch(() => {
      if (resolving === begun) resolving = undefined;
    });
    return begun;
  };
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The `jwks_uri` of a server's metadata, wherever it has that (OpenID Connect Discovery, RFC 8414). */
async function discover(issuer: string, get: Fetch): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
  for (const place of places) {
    const response = await get(place, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    const metadata: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
    const { issuer: said, jwks_uri: uri } = (metadata ?? {}) as Record<string, unknown>;
    // A server that calls itself something else is not the one that was meant (RFC 8414 3.3).
    if (said === issuer && typeof uri === 'string' && mayBeAsked(uri, origin)) return uri;
  }
  throw new KeysUnavailable(`${issuer} does not say where its keys are`);
}

/** Keys come over https; where the issuer itself is asked over http, from there. */
function mayBeAsked(uri: string, origin: string): boolean {
  if (!URL.canParse(uri)) return false;
  const parsed = new URL(uri);
  return parsed.protocol === 'https:' || parsed.origin === origin;
}

/** A small document; redirects are not followed, for they would lead where nobody said that keys are. */
async function fetchDocument(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_DOCUMENT_BYTES) throw new Error(`more than ${MAX_DOCUMENT_BYTES} bytes`);
    chunks.push(chunk);
  }
  // A redirect or an empty answer has a status that a response with a body may not have.
  return new Response(Buffer.concat(chunks), {
    status: response.status === 200 || response.status >= 400 ? response.status : 404,
  });
}
