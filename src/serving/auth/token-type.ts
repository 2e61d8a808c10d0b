/** Whether a JWT is an access token: its issuer signs others with the same keys (RFC 8725 3.11, RFC 9068 4). */
import type { Claims } from './claims.ts';
import { TokenRefused } from './refused.ts';

/** Access tokens of issuers that follow RFC 9068. */
const ACCESS_TOKEN = 'at+jwt';

/** Says nothing. Most issuers write it, or no `typ` at all, into their access tokens as well as into all others. */
const ANY = 'jwt';

/** Claims that say what a token is, and what they say of an access token, in small letters (Keycloak, Cognito and others). */
const SAID: Readonly<Record<string, ReadonlySet<string>>> = {
  typ: new Set(['bearer', 'dpop', 'at+jwt', 'jwt', 'access']),
  token_use: new Set(['access']),
  token_type: new Set(['bearer', 'dpop', 'access', 'access_token', 'at+jwt']),
};

/** Claims of ID tokens (OpenID Connect Core 3.1.3.6, 3.3.2.11) and of events, logout tokens among them (RFC 8417). */
const FOREIGN: readonly string[] = ['at_hash', 'c_hash', 's_hash', 'events'];

/**
 * A token of type `JWT`, or without a type, is taken unless its claims show that it is another one. An ID token that shows
 * nothing has the id of its client as its audience, and so is not for this resource.
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
  if (type !== ANY) throw notOne();
  const said = Object.entries(SAID).flatMap(([claim, of]) => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    return value === undefined ? [] : [of.has(String(value).toLowerCase())];
  });
  if (said.includes(false) || FOREIGN.some((claim) => Object.hasOwn(claims, claim))) throw notOne();
  // Some issuers copy the nonce of a login into access tokens; they say what those are.
  if (Object.hasOwn(claims, 'nonce') && said.length === 0) throw notOne();
}

const notOne = (): TokenRefused => new TokenRefused('The token is not an access token');
