/** Fetches the metadata of an authorization server (RFC 8414, OpenID Connect Discovery) when it is needed, and caches it. */
import { createAsking } from './asking.ts';
import { IssuerUnavailable } from './refused.ts';

/** Metadata that is older than this is fetched again, in milliseconds. */
export const METADATA_MAX_AGE_MS = 60 * 60_000;

/**
 * The shortest time between two fetches while metadata is cached, in milliseconds. A URL that does not work also causes a fetch.
 */
export const METADATA_COOLDOWN_MS = 60_000;

/** The addresses that can be read from metadata: two for a resource server, and two for a sign-in. */
export type Endpoint = 'jwks_uri' | 'introspection_endpoint' | 'authorization_endpoint' | 'token_endpoint';

export interface IssuerMetadata extends Readonly<Partial<Record<Endpoint, string>>> {
  readonly scopes_supported?: readonly string[];
  readonly id_token_signing_alg_values_supported?: readonly string[];
  /** Whether the server names itself when it sends a browser back (RFC 9207). */
  readonly authorization_response_iss_parameter_supported?: boolean;
}

export interface MetadataSource {
  /** Returns the metadata. Fetches it if none is cached or it is too old; if that fails, returns the old metadata. */
  get(): Promise<IssuerMetadata>;
  /** The same when the cached metadata turned out to be of no use: fetches it again, unless that was done just now. */
  again(): Promise<IssuerMetadata>;
}

/**
 * The methods throw IssuerUnavailable while the metadata cannot be fetched and none is cached.
 * @param wanted the endpoints to look for; if empty, nothing is fetched
 */
export function createMetadata(issuer: string, wanted: readonly Endpoint[]): MetadataSource {
  // A missing document is no failure of the server, because there are two places where the document may be.
  const ask = createAsking(issuer, (status) => status < 500);
  let cached: { readonly metadata: IssuerMetadata; readonly at: number } | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<IssuerMetadata> | undefined;

  async function discover(): Promise<IssuerMetadata> {
    triedAt = Date.now();
    let found: IssuerMetadata = {};
    for (const place of placesOf(issuer)) {
      const response = await ask(place, { headers: { accept: 'application/json' } });
      const document: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
      found = { ...endpointsIn(document, issuer, wanted), ...found };
      if (wanted.every((endpoint) => endpoint in found)) break;
    }
    if (!wanted.some((endpoint) => endpoint in found))
      throw new IssuerUnavailable(
        `The metadata of ${issuer} cannot be found, or has none of these: ${wanted.join(', ')}`,
      );
    cached = { metadata: found, at: Date.now() };
    return found;
  }

  function askOnce(): Promise<IssuerMetadata> {
    asking ??= discover().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  async function notOlderThan(age: number): Promise<IssuerMetadata> {
    if (wanted.length === 0) return {};
    if (cached === undefined) return await askOnce();
    const { metadata, at } = cached;
    const now = Date.now();
    if (now - at < age || now - triedAt < METADATA_COOLDOWN_MS) return metadata;
    return await askOnce().catch(() => metadata);
  }

  return { get: () => notOlderThan(METADATA_MAX_AGE_MS), again: () => notOlderThan(METADATA_COOLDOWN_MS) };
}

function placesOf(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

function endpointsIn(document: unknown, issuer: string, wanted: readonly Endpoint[]): IssuerMetadata {
  const fields = (document ?? {}) as Readonly<Record<string, unknown>>;
  // Metadata with another issuer must not be used (RFC 8414 3.3).
  if (fields.issuer !== issuer) return {};
  const { origin } = new URL(issuer);
  const { authorization_response_iss_parameter_supported: namesItself } = fields;
  const listed = (name: string): IssuerMetadata => {
    const names = fields[name];
    return Array.isArray(names) ? { [name]: names.map(String) } : {};
  };
  return {
    ...listed('scopes_supported'),
    ...listed('id_token_signing_alg_values_supported'),
    ...(namesItself === true && { authorization_response_iss_parameter_supported: true }),
    ...Object.fromEntries(
      wanted.flatMap((endpoint) => {
        const url = fields[endpoint];
        return typeof url === 'string' && mayBeAsked(url, origin) ? [[endpoint, url]] : [];
      }),
    ),
  };
}

/** Whether requests may go to a URL: it has https, or is on the issuer's own origin, and it has no user and no password. */
function mayBeAsked(url: string, issuerOrigin: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, origin, username, password } = new URL(url);
  return (protocol === 'https:' || origin === issuerOrigin) && username === '' && password === '';
}
