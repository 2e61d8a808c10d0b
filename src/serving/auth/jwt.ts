/** Access tokens that are JWTs (RFC 9068): signed by an issuer that is trusted, for this resource, and still good. */
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { HttpRequest } from '../http/exchange.ts';
import { CLOCK_SKEW_S, type Verified, verifiedOf } from './claims.ts';
import { createKeys } from './keys.ts';
import type { MetadataSource } from './metadata.ts';
import { type AuthOptions, DEFAULT_ALGORITHMS, type TokenIssuer } from './options.ts';
import { IssuerUnavailable, TokenRefused } from './refused.ts';
import { assertAccessToken } from './token-type.ts';

/** The client that shows a token, before it is known who that is. */
export interface Shower {
  /** The address that the request came from, where it is known. */
  readonly from: string | undefined;
  /** Its signal is made when it is looked at, which is seldom. */
  readonly request: Pick<HttpRequest, 'signal'>;
}

/** At once where nobody has to be asked. @throws TokenRefused, IssuerUnavailable */
export type Verifier = (token: string, shower: Shower) => Verified | Promise<Verified>;

/** A JWT is verified, and undefined is the answer for what is none. */
export type JwtVerifier = (token: string) => Promise<Verified | undefined>;

/** @param metadataOf what an issuer says of itself */
export function createJwtVerifier(
  { issuers = [], resource }: Pick<AuthOptions, 'issuers' | 'resource'>,
  metadataOf: (issuer: TokenIssuer) => MetadataSource,
): JwtVerifier {
  const trusted = new Map<string, TokenIssuer & { readonly keys: JWTVerifyGetKey }>(
    issuers.map((each) => [each.issuer, { ...each, keys: createKeys(each.issuer, each.jwksUri, metadataOf(each)) }]),
  );

  return async (token) => {
    const { decodeJwt, jwtVerify } = await import('jose');
    const claimed = issuerIn(token, decodeJwt);
    if (claimed === undefined) return undefined;
    const issuer = trusted.get(claimed);
    if (issuer === undefined) throw new TokenRefused('The token is not of an issuer that is trusted here');
    const { audience = resource, algorithms = DEFAULT_ALGORITHMS } = issuer;
    try {
      // The keys are asked for after the algorithm was looked at: what cannot be good causes no request.
      const { payload, protectedHeader } = await jwtVerify(token, issuer.keys, {
        issuer: issuer.issuer,
        audience: typeof audience === 'string' ? audience : [...audience],
        algorithms: [...algorithms],
        clockTolerance: CLOCK_SKEW_S,
        requiredClaims: ['exp', 'sub'],
      });
      assertAccessToken(protectedHeader.typ, payload);
      return verifiedOf(payload, issuer);
    } catch (error) {
      throw await reasonOf(error);
    }
  };
}

/** Undefined where the token is not a JWT. */
function issuerIn(token: string, decode: (token: string) => JWTPayload): string | undefined {
  try {
    return decode(token).iss ?? '';
  } catch {
    return undefined;
  }
}

/** The error that a client may see for a failure. The errors of the library hold the claims, and are not passed on. */
async function reasonOf(error: unknown): Promise<Error> {
  if (error instanceof TokenRefused || error instanceof IssuerUnavailable) return error;
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
  return new IssuerUnavailable('The keys of the issuer cannot be used', { cause: error });
}

const isOfToken = (error: unknown, errors: typeof import('jose').errors): boolean =>
  error instanceof errors.JWTInvalid ||
  error instanceof errors.JWSInvalid ||
  error instanceof errors.JOSENotSupported ||
  error instanceof TypeError;
