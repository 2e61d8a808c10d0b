/**
 * Tells access tokens from other JWTs, such as ID tokens, because an issuer signs all of them with the same keys (RFC 8725 3.11,
 * RFC 9068 4).
 */
import type { Claims } from './claims.ts';
import { TokenRefused } from './refused.ts';

/** The `typ` of access tokens of issuers that follow RFC 9068. */
const ACCESS_TOKEN = 'at+jwt';

/** This `typ` tells nothing. Most issuers write it, or no `typ` at all, into tokens of every kind. */
const ANY = 'jwt';

/** Claims that name the kind of a token, with their values for an access token in lower case (Keycloak, Cognito and others). */
const KIND_CLAIMS: Readonly<Record<string, ReadonlySet<string>>> = {
  typ: new Set(['bearer', 'dpop', 'at+jwt', 'jwt', 'access']),
  token_use: new Set(['access']),
  token_type: new Set(['bearer', 'dpop', 'access', 'access_token', 'at+jwt']),
};

/** Claims that only ID tokens (OpenID Connect Core 3.1.3.6, 3.3.2.11) and event tokens have, such as logout tokens (RFC 8417). */
const FOREIGN: readonly string[] = ['at_hash', 'c_hash', 's_hash', 'events'];

/**
 * A token of type `JWT`, or without a type, is accepted unless its claims show that it is no access token. An ID token without
 * such claims is refused by the check of the audience, because its audience is its client.
 * @throws TokenRefused
 */
export function assertAccessToken(typ: unknown, claims: Claims): void {
  const type =
    typ === undefined
      ? ANY
      : String(typ)
          .toLowerCase()
          .replace(/^application\//, '');
  if (type === ACCESS_TOKEN) return;
  if (type !== ANY) throw noAccessToken();
  // For each claim that names the kind: whether the kind is an access token.
  const named = Object.entries(KIND_CLAIMS).flatMap(([claim, kinds]) => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    return value === undefined ? [] : [kinds.has(String(value).toLowerCase())];
  });
  if (named.includes(false) || FOREIGN.some((claim) => Object.hasOwn(claims, claim))) throw noAccessToken();
  // Some issuers copy the nonce of a login into access tokens, but these tokens also name their kind.
  if (Object.hasOwn(claims, 'nonce') && named.length === 0) throw noAccessToken();
}

const noAccessToken = (): TokenRefused => new TokenRefused('The token is not an access token');
