/** Asks an authorization server for its metadata (RFC 8414, OpenID Connect Discovery) when they are needed, and keeps them for a time. */
import { createAsking } from './asking.ts';
import { IssuerUnavailable } from './refused.ts';

/** Metadata is asked for again when it is older than this, in milliseconds. */
export const METADATA_MAX_AGE_MS = 60 * 60_000;

/** If its metadata leads to no answer, the metadata is fetched again, but not more often than this, in milliseconds. */
export const METADATA_COOLDOWN_MS = 60_000;

/** Addresses that a resource server wants to know, and those of a sign-in. */
export type Endpoint = 'jwks_uri' | 'introspection_endpoint' | 'authorization_endpoint' | 'token_endpoint';

export interface IssuerMetadata extends Readonly<Partial<Record<Endpoint, string>>> {
  readonly scopes_supported?: readonly string[];
  readonly id_token_signing_alg_values_supported?: readonly string[];
  /** It says who it is when it sends a browser back (RFC 9207). */
  readonly authorization_response_iss_parameter_supported?: boolean;
}

export interface MetadataSource {
  /** Returns the metadata: asks where none are known or they are too old, and returns the old ones if the server does not answer. */
  get(): Promise<IssuerMetadata>;
  /** Asks again, since the known metadata are of no use, unless that was done just now. */
  again(): Promise<IssuerMetadata>;
}

/**
 * @param wanted without any, nothing is ever asked
 * @throws IssuerUnavailable from both methods while nothing is known
 */
export function createMetadata(issuer: string, wanted: readonly Endpoint[]): MetadataSource {
  // A document that is not there is an answer, too: there are two places to look at.
  const ask = createAsking(issuer, (status) => status < 500);
  let known: { readonly metadata: IssuerMetadata; readonly at: number } | undefined;
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
      throw new IssuerUnavailable(`${issuer} does not say where it is to be asked`);
    known = { metadata: found, at: Date.now() };
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
    if (known === undefined) return await askOnce();
    const { metadata, at } = known;
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
  const said = (document ?? {}) as Readonly<Record<string, unknown>>;
  // A server that calls itself something else is not the one that was meant (RFC 8414 3.3).
  if (said.issuer !== issuer) return {};
  const { origin } = new URL(issuer);
  const { authorization_response_iss_parameter_supported: saysWho } = said;
  const listed = (name: string): IssuerMetadata => {
    const names = said[name];
    return Array.isArray(names) ? { [name]: names.map(String) } : {};
  };
  return {
    ...listed('scopes_supported'),
    ...listed('id_token_signing_alg_values_supported'),
    ...(saysWho === true && { authorization_response_iss_parameter_supported: true }),
    ...Object.fromEntries(
      wanted.flatMap((endpoint) => {
        const url = said[endpoint];
        return typeof url === 'string' && mayBeAsked(url, origin) ? [[endpoint, url]] : [];
      }),
    ),
  };
}

/** Answers come over https; where the issuer itself is asked over http, from there. */
function mayBeAsked(url: string, origin: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, origin: there, username, password } = new URL(url);
  return (protocol === 'https:' || there === origin) && username === '' && password === '';
}
