/** Why a token is not accepted, in words that a client may see. */

/** The reasons that RFC 6750 3.1 and RFC 9449 7.1 have a word for, where a token came that is not good. */
export type TokenError = 'invalid_token' | 'invalid_dpop_proof';

/** The token is not good: expired, for somebody else, not signed by who says so. Nothing of it is in the message. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  /** `invalid_dpop_proof` where the token may be good, and the proof that came with it is not. */
  readonly error: TokenError;
  constructor(message: string, error: TokenError = 'invalid_token') {
    super(message);
    this.error = error;
  }
}

/** Whether the token is good cannot be said now: its issuer does not give its keys, or does not say. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}
