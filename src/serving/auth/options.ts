/** Who may use the HTTP endpoint, as an operator says it. */
import { invalid } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';

/** Algorithms that a token may be signed with. Those with a shared secret, and none at all, are never accepted. */
export const SIGNING_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** The signing algorithms that are accepted unless an issuer is said to use others. */
export const DEFAULT_ALGORITHMS: readonly SigningAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** An authorization server whose tokens are accepted. */
export interface TokenIssuer {
  /** Its issuer identifier, exactly as it stands in `iss`. */
  readonly issuer: string;
  /** The audiences that are accepted: one of them has to stand in `aud`. Default: the resource (RFC 8707). */
  readonly audience?: string | readonly string[] | undefined;
  /** The URL of its keys. Default: as its metadata says (RFC 8414, OpenID Connect Discovery). */
  readonly jwksUri?: string | undefined;
  /** Default: RS256, PS256, ES256 and EdDSA. */
  readonly algorithms?: readonly SigningAlgorithm[] | undefined;
  /** The claim that holds the groups. Default: `groups`. */
  readonly groupsClaim?: string | undefined;
  /** Has its tokens that are no JWTs accepted, by asking it. One issuer can have this. Default: they are refused. */
  readonly introspection?: Introspection | undefined;
}

/** How an issuer is asked about a token (RFC 7662). */
export interface Introspection {
  /** Who asks, as the issuer knows this server. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the secret is shown: in `Authorization`, or in the body. Default: `basic`. */
  readonly clientAuthentication?: 'basic' | 'post' | undefined;
  /** The URL to ask. Default: as its metadata says. */
  readonly url?: string | undefined;
  /** The claim that names the subject where there is no `sub`. Default: none, and such a token is refused. */
  readonly subjectClaim?: string | undefined;
  /** How long a good token is not asked for again, in seconds; 0 asks with each request. Default: 30. */
  readonly cacheSeconds?: number | undefined;
}

/** Tokens that are bound to a key of their client (RFC 9449). */
export interface DpopOptions {
  /** Whether every token has to be. Default: not. */
  readonly required?: boolean | undefined;
  /** Algorithms of proofs. Default: RS256, PS256, ES256 and EdDSA. */
  readonly algorithms?: readonly SigningAlgorithm[] | undefined;
  /** How old a proof may be, in seconds, beside the skew of clocks. Default: 60. */
  readonly maxAgeSeconds?: number | undefined;
  /**
   * Proofs that are remembered until they are too old, so that none is good twice; of one principal a quarter of them, and a
   * few of each who comes when others have used them up. Beyond that a request is answered with 503. Default: 100,000.
   */
  readonly maxProofs?: number | undefined;
}

/** A token that was handed out by hand; only its hash is known here. */
export interface StaticToken {
  /** Who has it; the principal is `token:<name>`. */
  readonly name: string;
  /** SHA-256 of the token, in hex or base64url. */
  readonly hash: string;
  readonly scopes?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
}

export interface AuthOptions {
  /** The endpoint's URL as clients know it. Tokens are for this, and metadata is published for it. */
  readonly resource: string;
  readonly issuers?: readonly TokenIssuer[] | undefined;
  readonly tokens?: readonly StaticToken[] | undefined;
  /** Scopes that every token needs. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Bound tokens are accepted in any case; with this, clients are told that they may, or have to, use them. */
  readonly dpop?: DpopOptions | undefined;
  /** Lets requests without any token in, as `anonymous`. Default: not. */
  readonly anonymous?: boolean | undefined;
}

const HASH = /^(?:[0-9a-f]{64}|[A-Za-z0-9_-]{43}=?)$/i;

/** @throws ResourceError `invalid` for what could not be kept safe, or would let nobody in */
export function assertAuthOptions({ resource, issuers = [], tokens = [], dpop = {} }: AuthOptions): void {
  assertAddress('auth.resource', resource);
  if (issuers.length + tokens.length === 0) {
    throw invalid('auth has neither issuers nor tokens, so nobody could come in; give one');
  }
  for (const { issuer, jwksUri, algorithms = [], introspection } of issuers) {
    assertAddress('An issuer', issuer);
    if (jwksUri !== undefined) assertAddress('The jwksUri of an issuer', jwksUri);
    if (introspection?.url !== undefined) assertAddress('The introspection url of an issuer', introspection.url);
    assertAlgorithms('Tokens', algorithms);
  }
  if (issuers.filter(({ introspection }) => introspection !== undefined).length > 1) {
    throw invalid('An opaque token does not say whose it is: one issuer at most has introspection');
  }
  assertAlgorithms('Proofs', dpop.algorithms ?? []);
  const { maxProofs = 100 } = dpop;
  if (!Number.isSafeInteger(maxProofs) || maxProofs < 100) throw invalid('auth.dpop.maxProofs is a number from 100');
  if (dpop.required === true && tokens.length > 0) {
    throw invalid('Tokens that were handed out by hand are bound to no key, as auth.dpop.required wants');
  }
  assertEachOnce(
    'issuer',
    issuers.map(({ issuer }) => issuer),
  );
  assertEachOnce(
    'token',
    tokens.map(({ name }) => name),
  );
  for (const { name, hash } of tokens) {
    if (!HASH.test(hash)) throw invalid(`The hash of the token "${name}" is no SHA-256 in hex or base64url`);
  }
}

function assertAlgorithms(what: string, algorithms: readonly SigningAlgorithm[]): void {
  const unknown = algorithms.find((each) => !SIGNING_ALGORITHMS.includes(each));
  if (unknown !== undefined) throw invalid(`${what} cannot be signed with "${unknown}"`);
}

function assertEachOnce(what: string, names: readonly string[]): void {
  const again = names.find((name, index) => names.indexOf(name) !== index);
  if (again !== undefined) throw invalid(`There are two of the ${what} "${again}"`);
}

function assertAddress(what: string, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const secure = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
  if (parsed === undefined || !secure || /[#?]/.test(url) || parsed.username !== '' || parsed.password !== '') {
    throw invalid(`${what} is an https URL (http on this machine) without query, fragment and user, not "${url}"`);
  }
}
