/**
 * Authorizes Vitrine through the company's identity provider (enterprise-managed authorization): an ID token is exchanged there for an
 * assertion (ID-JAG, RFC 8693), and the authorization server of the upstream exchanges the assertion for a token (RFC 7523).
 */
import { readFile } from 'node:fs/promises';
import {
  type AuthProvider,
  CrossAppAccessProvider,
  discoverAuthorizationServerMetadata,
  type FetchLike,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client';
import { isData } from '../../../protocol/data.ts';
import type { AuthTarget, EnterpriseConfig } from './config.ts';
import { isSameIssuer, noAssertion, noRequest } from './failures.ts';
import { type GrantedFor, grantedAuth } from './granted.ts';

/** The type of an assertion in its header. No other JWT is sent as one. */
const ASSERTION_TYPE = 'oauth-id-jag+jwt';

/** The longest ID token, and the longest assertion, in characters. */
const MAX_TOKEN_LENGTH = 16_384;

export function enterpriseAuth(config: EnterpriseConfig, target: AuthTarget): AuthProvider {
  const { clientId, clientSecret } = config;
  return grantedAuth(target, config, (found) => {
    const provider = new CrossAppAccessProvider({
      clientId,
      clientSecret,
      clientName: 'Vitrine',
      expectedIssuer: found.issuer,
      assertion: ({ scope }) => assertionFor(config, target.mount, found, scope),
    });
    provider.saveAuthorizationServerUrl(found.issuer);
    provider.saveResourceUrl?.(found.resource ?? target.url);
    return provider;
  });
}

/**
 * Requests a new assertion for each token, because authorization servers accept an assertion only once.
 * @throws ResourceError `unavailable`
 */
async function assertionFor(
  { idp, clientId }: EnterpriseConfig,
  mount: string,
  { issuer, resource, fetchFn }: GrantedFor,
  scope: string | undefined,
): Promise<string> {
  if (resource === undefined) throw noRequest(mount, 'the upstream does not say which resource it is');
  const idToken = await idTokenOf(idp, mount);
  const given = await exchanged(idp, { audience: issuer, resource, scope, idToken, fetchFn }, mount);
  const problem = problemOf(given, { issuer: idp.issuer, audience: issuer, resource, clientId });
  if (problem !== undefined) throw noAssertion(mount, `the one that it gave ${problem}`);
  return given;
}

/** Reads the file for each token, because another program renews the ID token in it. */
async function idTokenOf({ idToken, idTokenFile = '' }: EnterpriseConfig['idp'], mount: string): Promise<string> {
  const text = idToken ?? (await readFile(idTokenFile, 'utf8').catch(() => ''));
  const token = text.trim();
  if (/^[\w.-]+$/.test(token) && token.length <= MAX_TOKEN_LENGTH) return token;
  throw noRequest(mount, 'the configured ID token is missing, or is not an ID token');
}

interface Exchange {
  readonly audience: string;
  readonly resource: string;
  readonly scope: string | undefined;
  readonly idToken: string;
  readonly fetchFn: FetchLike;
}

async function exchanged(
  { issuer, clientId, clientSecret }: EnterpriseConfig['idp'],
  { scope, ...exchange }: Exchange,
  mount: string,
): Promise<string> {
  let refusal: string | undefined;
  const fetchFn: FetchLike = async (url, init) => {
    const response = await exchange.fetchFn(url, init);
    if (init?.method === 'POST' && !response.ok) refusal = String((await response.clone().json()).error);
    return response;
  };
  try {
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
    if (metadata === undefined || !isSameIssuer(metadata.issuer, issuer) || metadata.token_endpoint === undefined)
      throw noAssertion(mount, 'it does not say where tokens are exchanged');
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
      ...exchange,
      tokenEndpoint: metadata.token_endpoint,
      clientId,
      clientSecret,
      ...(scope !== undefined && { scope }),
      fetchFn,
    });
    return jwtAuthGrant;
  } catch (error) {
    throw noAssertion(mount, refusal === undefined ? undefined : `it says ${refusal}`, error);
  }
}

/** Returns why an assertion is not sent. The authorization server verifies its signature; an encrypted one is not checked here. */
function problemOf(
  assertion: string,
  expected: { issuer: string; audience: string; resource: string; clientId: string },
): string | undefined {
  const parts = assertion.split('.');
  if (assertion.length > MAX_TOKEN_LENGTH || !/^[\w.-]+$/.test(assertion)) return 'is malformed';
  if (parts.length === 5) return undefined;
  const [header, claims] = parts.slice(0, 2).map(jsonIn);
  if (parts.length !== 3 || header === undefined || claims === undefined) return 'is malformed';
  if (header.typ !== ASSERTION_TYPE) return 'is of another type';
  if (typeof header.alg !== 'string' || header.alg.toLowerCase() === 'none' || parts[2] === '') return 'is not signed';
  if (!isSameIssuer(String(claims.iss), expected.issuer)) return 'is of another issuer';
  if ([claims.aud].flat().length !== 1 || !isSameIssuer(String(claims.aud), expected.audience))
    return 'is for another authorization server';
  if (claims.resource !== undefined && ![claims.resource].flat().includes(expected.resource))
    return 'is for another resource';
  if (claims.client_id !== expected.clientId) return 'is for another client';
  if (typeof claims.exp !== 'number' || claims.exp * 1_000 <= Date.now()) return 'has expired';
  return undefined;
}

function jsonIn(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isData(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
