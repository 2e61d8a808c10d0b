/** Reads the claims of a good token, whether they stood in the token or came from its issuer. */
import type { Principal } from '../../core/context.ts';
import type { TokenIssuer } from './options.ts';
import { TokenRefused } from './refused.ts';

/** How far the clocks of two machines may be apart, in seconds. */
export const CLOCK_SKEW_S = 10;

/** Groups and scopes of one token. */
const MAX_NAMES = 1_000;

/** Characters of a subject. */
const MAX_SUBJECT = 1_024;

/** A token that is good, but for the proof of a key that it may need. */
export interface Verified {
  readonly principal: Principal;
  /** When it stops being good, skew of clocks included, in milliseconds since 1970. Default: never. */
  readonly expiresAt?: number | undefined;
  /** The thumbprint of the key that its client has to show (RFC 9449 6.1). Default: it is bound to none. */
  readonly key?: string | undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

/** @throws TokenRefused where the claims do not say for whom, until when or by which key */
export function verifiedOf(claims: Claims, { issuer, groupsClaim = 'groups', introspection }: TokenIssuer): Verified {
  const { exp, client_id: clientId, azp } = claims;
  const subject = claims.sub ?? (introspection?.subjectClaim === undefined ? '' : claims[introspection.subjectClaim]);
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT) {
    throw new TokenRefused('The token does not say for whom it is');
  }
  if (typeof exp !== 'number') throw new TokenRefused('The token does not say until when it is good');
  const client = typeof clientId === 'string' ? clientId : azp;
  const groups = claims[groupsClaim];
  return {
    principal: Object.freeze<Principal>({
      // An issuer has no fragment, so no two of them make the same id.
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

/** The key that the token is bound to. One that is bound in a way that cannot be checked here is good for nothing. */
function keyIn(confirmation: unknown): string | undefined {
  if (confirmation === undefined) return undefined;
  const { jkt, ...others } = (confirmation ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof jkt !== 'string' || jkt === '' || Object.keys(others).length > 0) {
    throw new TokenRefused('The token is bound to a key in a way that is not known here');
  }
  return jkt;
}

/** Names as a list, or in one text with spaces between them. */
function namesIn(claim: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
  const texts = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (texts.length > MAX_NAMES) throw new TokenRefused(`A token has at most ${MAX_NAMES} scopes, and as many groups`);
  return Object.freeze(texts);
}
