/**
 * Refuses requests whose token is missing or not sufficient. `WWW-Authenticate` tells the client what it needs (RFC 6750,
 * RFC 9728 5.1, RFC 9449 7.1, MCP).
 */
import { type HttpAnswer, refusal } from '../http/exchange.ts';
import { type AuthOptions, DEFAULT_ALGORITHMS } from './options.ts';
import type { TokenError } from './refused.ts';

/** The authentication schemes that are supported. */
export type Scheme = 'Bearer' | 'DPoP';

/** The error codes of the standards. */
export type AuthError = 'invalid_request' | 'insufficient_scope' | TokenError;

const STATUS: Readonly<Record<AuthError, number>> = {
  invalid_request: 400,
  invalid_token: 401,
  invalid_dpop_proof: 401,
  insufficient_scope: 403,
};

export interface Challenges {
  /** Refuses a request without a token and asks for one. */
  needed(): HttpAnswer;
  /**
   * Refuses a request because of its token.
   * @param scheme how the token was shown. Default: in none of the schemes, as in the URL
   */
  refused(error: AuthError, description: string, scheme?: Scheme): HttpAnswer;
  /** Refuses an operation that needs more scopes than the token has. @param needed the scopes that the operation needs */
  insufficient(needed: readonly string[], scheme?: Scheme): HttpAnswer;
  /** Answers that the token cannot be verified now. */
  unavailable(): HttpAnswer;
}

/**
 * Each challenge names the schemes that the client may use: `DPoP` if the client tried it or it is configured, and `Bearer` if
 * the client tried it, or tried neither and the configuration does not require `DPoP`.
 */
export function createChallenges(metadataUrl: string, { scopes = [], dpop }: AuthOptions): Challenges {
  const metadata = `resource_metadata="${metadataUrl}"`;
  const scopeOf = (needed: readonly string[]): readonly string[] =>
    needed.length === 0 ? [] : [`scope="${needed.join(' ')}"`];
  const algorithms = `algs="${(dpop?.algorithms ?? DEFAULT_ALGORITHMS).join(' ')}"`;
  const challengeOf = (scheme: Scheme, parts: readonly string[], needed: readonly string[]): string =>
    `${scheme} ${[metadata, ...parts, ...scopeOf(needed), ...(scheme === 'DPoP' ? [algorithms] : [])].join(', ')}`;

  function challenge(
    parts: readonly string[],
    tried: Scheme | undefined,
    needed: readonly string[] = scopes,
  ): Record<string, string> {
    const required = dpop?.required === true;
    const first = tried ?? (required ? 'DPoP' : 'Bearer');
    // Bearer comes first, because clients that do not know DPoP read only the first challenge.
    const others = dpop !== undefined && first === 'Bearer' ? [challengeOf('DPoP', [], needed)] : [];
    return { 'WWW-Authenticate': [challengeOf(first, parts, needed), ...others].join(', ') };
  }

  return {
    needed: () => refusal(401, -32_000, 'A token is needed, in the Authorization header', challenge([], undefined)),
    refused: (error, description, scheme) => {
      const parts = [`error="${error}"`, `error_description="${quotable(description)}"`];
      return refusal(STATUS[error], -32_000, description, challenge(parts, scheme));
    },
    insufficient(needed, scheme) {
      const description = `This operation needs a token with the scope ${needed.join(' ')}`;
      // The new token also needs the scopes that every token needs.
      const all = [...new Set([...scopes, ...needed])];
      const parts = ['error="insufficient_scope"', `error_description="${quotable(description)}"`];
      return refusal(STATUS.insufficient_scope, -32_000, description, challenge(parts, scheme, all));
    },
    unavailable: () =>
      refusal(503, -32_000, 'The token cannot be verified now; try again later', { 'Retry-After': '5' }),
  };
}

/** Replaces the characters that RFC 6750 does not allow in a description, such as quotation marks. */
const quotable = (text: string): string => text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?');
