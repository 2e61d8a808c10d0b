/** Access tokens that are JWTs (RFC 9068): signed by an issuer that is trusted, for this resource, and still good. */
import type { JWTPayload } from 'jose';
import type { Principal } from '../../core/context.ts';
import { createKeys, type Keys } from './keys.ts';
import { type AuthOptions, DEFAULT_ALGORITHMS, type TokenIssuer } from './options.ts';
import { KeysUnavailable, TokenRefused } from './refused.ts';

/** How far the clocks of two machines may be apart, in seconds. */
export const CLOCK_SKEW_S = 10;

/** Groups and scopes of one token. */
const MAX_NAMES = 1_000;

/** Characters of a subject. */
const MAX_SUBJECT = 1_024;

/** @throws TokenRefused, KeysUnavailable */
export type JwtVerifier = (token: string) => Promise<Principal>;

export function createJwtVerifier({ issuers = [], resource }: AuthOptions): JwtVerifier {
  const trusted = new Map<string, TokenIssuer & { readonly keys: Keys }>(
    issuers.map((each) => [each.issuer, { ...each, keys: createKeys(each.issuer, each.jwksUri) }]),
  );

  return async (token) => {
    const { decodeJwt, jwtVerify } = await import('jose');
    const issuer = trusted.get(issuerIn(token, decodeJwt));
    if (issuer === undefined) throw new TokenRefused('The token is not of an issuer that is trusted here');
    const { audience = resource, algorithms = DEFAULT_ALGORITHMS } = issuer;
    try {
      const keys: Keys = issuer.keys;
      // The keys are asked for after the algorithm was looked at: what cannot be good causes no request.
      const { payload } = await jwtVerify(token, async (...asked) => (await keys())(...asked), {
        issuer: issuer.issuer,
        audience: typeof audience === 'string' ? audience : [...audience],
        algorithms: [...algorithms],
        clockTolerance: CLOCK_SKEW_S,
        requiredClaims: ['exp', 'sub'],
      });
      return principalOf(payload, issuer);
    } catch (error) {
      throw await reasonOf(error);
    }
  };
}

function issuerIn(token: string, decode: (token: string) => JWTPayload): string {
  try {
    return decode(token).iss ?? '';
  } catch {
    throw new TokenRefused('The token is not one that is known here');
  }
}

/** What a client may know of a failure. The errors of the library hold the claims, and are not passed on. */
async function reasonOf(error: unknown): Promise<Error> {
  if (error instanceof TokenRefused || error instanceof KeysUnavailable) return error;
  const { errors } = await import('jose');
  if (error instanceof errors.JWTExpired) return new TokenRefused('The token has expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return new TokenRefused('The token is not for this resource');
    if (error.claim === 'nbf') return new TokenRefused('The token is not good yet');
    return new TokenRefused(`The claim "${error.claim}" of the token is missing or wrong`);
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new TokenRefused('The token is signed with an algorithm that is not accepted');
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return new TokenRefused('The token is signed with a key that is not known');
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenRefused('The signature of the token is wrong');
  }
  if (isOfToken(error, errors)) return new TokenRefused('The token is malformed');
  return new KeysUnavailable('The keys of the issuer cannot be used', { cause: error });
}

const isOfToken = (error: unknown, errors: typeof import('jose').errors): boolean =>
  error instanceof errors.JWTInvalid ||
  error instanceof errors.JWSInvalid ||
  error instanceof errors.JOSENotSupported ||
  error instanceof TypeError;

function principalOf(payload: JWTPayload, { issuer, groupsClaim = 'groups' }: TokenIssuer): Principal {
  const { sub: subject, cnf, client_id: clientId, azp } = payload;
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT) {
    throw new TokenRefused('The token does not say for whom it is');
  }
  // Bound to a key of its client, whose proof is not looked at here: anybody could have taken it (RFC 9449 7.2).
  if (cnf !== undefined) throw new TokenRefused('The token is bound to a key, and cannot be used as a bearer token');
  const client = typeof clientId === 'string' ? clientId : azp;
  return Object.freeze<Principal>({
    // An issuer has no fragment, so no two of them make the same id.
    id: `${issuer}#${subject}`,
    subject,
    issuer,
    ...(typeof client === 'string' && { clientId: client }),
    scopes: namesIn(payload.scope ?? payload.scp),
    groups: typeof payload[groupsClaim] === 'string' ? [payload[groupsClaim]] : namesIn(payload[groupsClaim]),
  });
}

/** Names as a list, or in one text with spaces between them. */
function namesIn(claim: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
  const texts = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (texts.length > MAX_NAMES) throw new TokenRefused(`A token has at most ${MAX_NAMES} scopes, and as many groups`);
  return Object.freeze(texts);
}
