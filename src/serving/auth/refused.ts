/** The errors that say why a token is not accepted. Clients may see their messages. */

/** The error codes for a request whose token or proof is not valid (RFC 6750 3.1, RFC 9449 7.1). */
export type TokenError = 'invalid_token' | 'invalid_dpop_proof';

/** The token is not valid: expired, for another resource, or not signed by its issuer. The message contains nothing of the token. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  /** `invalid_dpop_proof` if the proof that came with the token is not valid. Default: `invalid_token`. */
  readonly error: TokenError;
  constructor(message: string, error: TokenError = 'invalid_token') {
    super(message);
    this.error = error;
  }
}

/** The token cannot be verified now, for example because its issuer does not answer. */
export class IssuerUnavailable extends Error {
  override readonly name = 'IssuerUnavailable';
}
