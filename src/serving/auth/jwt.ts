/** Verifies access tokens that are JWTs (RFC 9068): signed by a trusted issuer, for this resource, and not expired. */
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { HttpRequest } from '../http/exchange.ts';
import { CLOCK_SKEW_S, type Verified, verifiedOf } from './claims.ts';
import { createKeys } from './keys.ts';
import type { MetadataSource } from './metadata.ts';
import { type AuthOptions, DEFAULT_ALGORITHMS, type TokenIssuer } from './options.ts';
import { IssuerUnavailable, TokenRefused } from './refused.ts';
import { assertAccessToken } from './token-type.ts';

/** The sender of a token before it is authenticated. */
export interface Shower {
  /** The address of the request, where known. */
  readonly from: string | undefined;
  /** The signal of the request is made on first use, which is seldom. */
  readonly request: Pick<HttpRequest, 'signal'>;
}

/** Verifies a token, and a static token synchronously. @throws TokenRefused, IssuerUnavailable */
export type Verifier = (token: string, shower: Shower) => Verified | Promise<Verified>;

/** Verifies a JWT; returns undefined for any other token. */
export type JwtVerifier = (token: string) => Promise<Verified | undefined>;

/** @param metadataOf returns the metadata of an issuer */
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
    if (issuer === undefined) throw new TokenRefused('The token is not of an issuer that this server trusts');
    const { audience = resource, algorithms = DEFAULT_ALGORITHMS } = issuer;
    try {
      // Fetches the keys only after checking the algorithm, so that a hopeless token causes no request.
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

/** Returns the issuer that a JWT names, empty if it names none; undefined where the token is not a JWT. */
function issuerIn(token: string, decode: (token: string) => JWTPayload): string | undefined {
  try {
    return decode(token).iss ?? '';
  } catch {
    return undefined;
  }
}

/** Returns the error that a client may see. Errors of the library contain claims, and are not passed on. */
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
