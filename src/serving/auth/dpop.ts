/** Checks the proof that a client has the key that its token is bound to (DPoP, RFC 9449). */
import { createHash } from 'node:crypto';
import type { JWTPayload, JWTVerifyResult } from 'jose';
import type { HttpRequest } from '../http/exchange.ts';
import { CLOCK_SKEW_S } from './claims.ts';
import { type AuthOptions, DEFAULT_ALGORITHMS } from './options.ts';
import { IssuerUnavailable, TokenRefused } from './refused.ts';
import { createReplays } from './replays.ts';

/** How old a proof may be by default, in seconds. */
export const DEFAULT_PROOF_AGE_S = 60;

/** The most characters of a proof, which holds a public key and some claims. */
const MAX_PROOF = 8_192;

/** The most characters of the `jti` of a proof. */
const MAX_ID = 256;

/**
 * Checks the proof of a request.
 * @param key the thumbprint of the key that the token is bound to
 * @throws TokenRefused with `invalid_dpop_proof`; IssuerUnavailable if there is no room to remember the proof
 */
export type Proofs = (request: HttpRequest, token: string, key: string, principal: string) => Promise<void>;

/** Each proof is valid for one request: for its method, the resource and its token, and only for a short time. */
export function createProofs({ resource, dpop = {} }: Pick<AuthOptions, 'resource' | 'dpop'>): Proofs {
  const { algorithms = DEFAULT_ALGORITHMS, maxAgeSeconds = DEFAULT_PROOF_AGE_S, maxProofs } = dpop;
  // The clock of the client may be too slow or too fast, so the skew counts twice.
  const useProof = createReplays({ windowMs: (maxAgeSeconds + 2 * CLOCK_SKEW_S) * 1_000, max: maxProofs });
  const address = addressOf(resource);

  return async (request, token, key, principal) => {
    const proof = request.headers.get('dpop');
    if (proof === null) throw refused('The proof of the key is missing, in the header DPoP');
    const { payload, thumbprint } = await opened(proof, algorithms, maxAgeSeconds);
    if (thumbprint !== key) throw refused('The proof is made with another key than the token is bound to');
    if (payload.htm !== request.method) throw refused('The proof is for another HTTP method');
    // Compares with the address that clients know, because a proxy may have changed the address of the request.
    if (addressOf(payload.htu) !== address) throw refused('The proof is for another address');
    const hash = createHash('sha256').update(token).digest('base64url');
    if (payload.ath !== hash) throw refused('The proof is for another token');
    const { jti } = payload;
    if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID) throw refused('The proof has no usable jti');
    // Remembers the proof only after all other checks, so that invented proofs take no room.
    const used = useProof(principal, key, jti);
    if (used === 'again') throw refused('The proof has been used before');
    if (used === 'full') throw new IssuerUnavailable('Too many proofs are in use');
  };
}

interface Opened {
  readonly payload: JWTPayload;
  /** The thumbprint of the key that signed the proof. */
  readonly thumbprint: string;
}

/** Checks that a proof is signed with the key in it and is not too old; returns its claims and the thumbprint of the key. */
async function opened(proof: string, algorithms: readonly string[], maxAgeSeconds: number): Promise<Opened> {
  if (proof.length > MAX_PROOF) throw refused('The proof is too long');
  const { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } = await import('jose');
  try {
    const { payload, protectedHeader }: JWTVerifyResult = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...algorithms],
      maxTokenAge: maxAgeSeconds,
      clockTolerance: CLOCK_SKEW_S,
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
    });
    const { jwk = {} } = protectedHeader;
    return { payload, thumbprint: await calculateJwkThumbprint(jwk as Parameters<typeof calculateJwkThumbprint>[0]) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw refused('The proof is too old');
    if (error instanceof errors.JWTClaimValidationFailed) {
      throw refused(`The claim or header "${error.claim}" of the proof is missing or wrong`);
    }
    if (error instanceof errors.JOSEAlgNotAllowed)
      throw refused('The proof is signed with an algorithm that is not accepted');
    if (error instanceof errors.JWSSignatureVerificationFailed) throw refused('The signature of the proof is wrong');
    // Both the proof and the key in it come from the client, so any other error is the client's, too.
    throw refused('The proof is malformed');
  }
}

/** The normal form of an address, without query and fragment, because a proof does not cover these (RFC 9449 4.3). */
function addressOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

const refused = (message: string): TokenRefused => new TokenRefused(message, 'invalid_dpop_proof');
