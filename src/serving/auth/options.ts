/** The options that say who may use the HTTP endpoint. */
import { invalid } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';

/** Algorithms that a token may be signed with. Algorithms with a shared secret, and `none`, are never accepted. */
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

/** The signing algorithms that are accepted unless others are configured. */
export const DEFAULT_ALGORITHMS: readonly SigningAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** An authorization server whose tokens are accepted. */
export interface TokenIssuer {
  /** The issuer identifier, exactly as in the claim `iss`. */
  readonly issuer: string;
  /** The accepted audiences: `aud` of a token has to contain one of them. Default: the resource (RFC 8707). */
  readonly audience?: string | readonly string[] | undefined;
  /** The URL of the issuer's keys. Default: from its metadata (RFC 8414, OpenID Connect Discovery). */
  readonly jwksUri?: string | undefined;
  /** Accepted signing algorithms of tokens. Default: RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly SigningAlgorithm[] | undefined;
  /** The claim that holds the groups. Default: `groups`. */
  readonly groupsClaim?: string | undefined;
  /** Accepts tokens of this issuer that are not JWTs, and asks the issuer about each. Only one issuer can have this. Default: refused. */
  readonly introspection?: Introspection | undefined;
}

/** How an issuer is asked about a token (RFC 7662). */
export interface Introspection {
  /** The client id of this server at the issuer. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the secret is sent: `basic` in the `Authorization` header, `post` in the body. Default: `basic`. */
  readonly clientAuthentication?: 'basic' | 'post' | undefined;
  /** The URL to ask. Default: from the issuer's metadata. */
  readonly url?: string | undefined;
  /** The claim that names the subject of a token without `sub`. Default: none, and such a token is refused. */
  readonly subjectClaim?: string | undefined;
  /** How long the answer about a valid token is cached, in seconds; 0 asks for each request. Default: 30. */
  readonly cacheSeconds?: number | undefined;
}

/** Tokens that are bound to a key of their client (RFC 9449). */
export interface DpopOptions {
  /** Whether every token has to be bound to a key. Default: false. */
  readonly required?: boolean | undefined;
  /** Accepted signing algorithms of proofs. Default: RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly SigningAlgorithm[] | undefined;
  /** How old a proof may be, in seconds, in addition to the allowed clock skew. Default: 60. */
  readonly maxAgeSeconds?: number | undefined;
  /**
   * The most proofs that are remembered until they are too old, so that no proof can be used twice. One principal can use a
   * quarter of them. When they are used up, a few more are remembered for each principal that has used few. A request whose proof
   * has no room is answered with 503. Default: 100,000.
   */
  readonly maxProofs?: number | undefined;
}

/** A token that the operator gave to somebody. The configuration has only its hash. */
export interface StaticToken {
  /** The name of the token's holder; the principal is `token:<name>`. */
  readonly name: string;
  /** SHA-256 of the token, in hex or base64url. */
  readonly hash: string;
  readonly scopes?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
}

export interface AuthOptions {
  /** The endpoint's URL as clients know it. Tokens have to be issued for this URL, and metadata is published for it. */
  readonly resource: string;
  readonly issuers?: readonly TokenIssuer[] | undefined;
  readonly tokens?: readonly StaticToken[] | undefined;
  /** Scopes that every token needs. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** Tells clients that they may use tokens bound to a key, or have to. Without it, such tokens are accepted, too. */
  readonly dpop?: DpopOptions | undefined;
  /** Whether requests without a token are accepted, as `anonymous`. Default: false. */
  readonly anonymous?: boolean | undefined;
}

const HASH = /^(?:[0-9a-f]{64}|[A-Za-z0-9_-]{43}=?)$/i;

/** @throws ResourceError `invalid` if the options are not secure, contradict each other, or would let nobody in */
export function assertAuthOptions({ resource, issuers = [], tokens = [], dpop = {} }: AuthOptions): void {
  assertAddress('auth.resource', resource);
  if (issuers.length + tokens.length === 0) {
    throw invalid('auth has neither issuers nor tokens, so every request would be refused; configure one of them');
  }
  for (const { issuer, jwksUri, algorithms = [], introspection } of issuers) {
    assertAddress('An issuer', issuer);
    if (jwksUri !== undefined) assertAddress('The jwksUri of an issuer', jwksUri);
    if (introspection?.url !== undefined) assertAddress('The introspection url of an issuer', introspection.url);
    assertAlgorithms('Tokens', algorithms);
  }
  if (issuers.filter(({ introspection }) => introspection !== undefined).length > 1) {
    throw invalid('At most one issuer can have introspection, because an opaque token does not name its issuer');
  }
  assertAlgorithms('Proofs', dpop.algorithms ?? []);
  const { maxProofs = 100 } = dpop;
  if (!Number.isSafeInteger(maxProofs) || maxProofs < 100)
    throw invalid('auth.dpop.maxProofs has to be a whole number, at least 100');
  if (dpop.required === true && tokens.length > 0) {
    throw invalid('auth.tokens cannot be used with auth.dpop.required, because such tokens are bound to no key');
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
  const unknown = algorithms.find((algorithm) => !SIGNING_ALGORITHMS.includes(algorithm));
  if (unknown !== undefined) throw invalid(`${what} cannot be signed with "${unknown}"`);
}

function assertEachOnce(what: string, names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw invalid(`The ${what} "${repeated}" is configured twice`);
}

function assertAddress(what: string, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const secure = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
  if (parsed === undefined || !secure || /[#?]/.test(url) || parsed.username !== '' || parsed.password !== '') {
    throw invalid(`${what} is an https URL (http on this machine) without query, fragment and user, not "${url}"`);
  }
}
