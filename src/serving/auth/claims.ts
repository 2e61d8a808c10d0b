/** Reads the claims of a verified token. They come from the token itself or from its issuer. */
import type { Principal } from '../../core/context.ts';
import type { TokenIssuer } from './options.ts';
import { TokenRefused } from './refused.ts';

/** How far the clocks of two machines may differ, in seconds. */
export const CLOCK_SKEW_S = 10;

/** The most groups, and the most scopes, of one token. */
const MAX_NAMES = 1_000;

/** The most characters of a subject. */
const MAX_SUBJECT = 1_024;

/** A verified token. Where it is bound to a key, its client still has to prove that it has the key. */
export interface Verified {
  readonly principal: Principal;
  /** When it expires, with the allowed clock skew added, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined;
  /** The thumbprint of the key that its client has to prove (RFC 9449 6.1). Default: it is bound to no key. */
  readonly key?: string | undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

/**
 * @throws TokenRefused where the claims lack the subject or the expiry, name too many scopes or groups, or bind the token to an
 *   unsupported key
 */
export function verifiedOf(claims: Claims, { issuer, groupsClaim = 'groups', introspection }: TokenIssuer): Verified {
  const { exp, client_id: clientId, azp } = claims;
  const subject = claims.sub ?? (introspection?.subjectClaim === undefined ? '' : claims[introspection.subjectClaim]);
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT) {
    throw new TokenRefused('The token has no subject');
  }
  if (typeof exp !== 'number') throw new TokenRefused('The token has no expiry');
  const client = typeof clientId === 'string' ? clientId : azp;
  const groups = claims[groupsClaim];
  return {
    principal: Object.freeze<Principal>({
      // An issuer has no fragment, so ids of two issuers never collide.
      id: `${issuer}#${subject}`,
      subject,
      issuer,
      ...(typeof client === 'string' && { clientId: client }),
      scopes: namesIn(claims.scope ?? claims.scp),
      groups: typeof groups === 'string' ? [groups] : namesIn(groups),
    }),
    expiresAt: (exp + CLOCK_SKEW_S) * 1_000,
    key: keyIn(claims.cnf),
  };
}

/** Returns the thumbprint of the key that a token is bound to. A token that is bound in an unsupported way is refused. */
function keyIn(confirmation: unknown): string | undefined {
  if (confirmation === undefined) return undefined;
  const { jkt, ...others } = (confirmation ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof jkt !== 'string' || jkt === '' || Object.keys(others).length > 0) {
    throw new TokenRefused('The token is bound to a key in a way that this server does not support');
  }
  return jkt;
}

/** Reads names from a list, or from one text with spaces between them. */
function namesIn(claim: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
  const texts = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (texts.length > MAX_NAMES) throw new TokenRefused(`A token has at most ${MAX_NAMES} scopes, and as many groups`);
  return Object.freeze(texts);
}
