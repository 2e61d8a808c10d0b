/** Why a token is not accepted, in words that a client may see. */

/** The token is not good: expired, for somebody else, not signed by who says so. Nothing of it is in the message. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
}

/** Whether the token is good cannot be said now: its issuer's keys are not to be had. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}
