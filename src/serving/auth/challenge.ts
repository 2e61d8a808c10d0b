/** Refusals that say how to do better: `WWW-Authenticate` as in RFC 6750, RFC 9728 5.1, RFC 9449 7.1 and MCP. */
import { type HttpAnswer, refusal } from '../http/exchange.ts';
import { type AuthOptions, DEFAULT_ALGORITHMS } from './options.ts';
import type { TokenError } from './refused.ts';

/** The ways to show a token that are known here. */
export type Scheme = 'Bearer' | 'DPoP';

/** The reasons that the standards have a word for. */
export type AuthError = 'invalid_request' | 'insufficient_scope' | TokenError;

const STATUS: Readonly<Record<AuthError, number>> = {
  invalid_request: 400,
  invalid_token: 401,
  invalid_dpop_proof: 401,
  insufficient_scope: 403,
};

export interface Challenges {
  /** Asks for a token; what was sent had none. */
  needed(): HttpAnswer;
  /** @param scheme how the token was shown. Default: as a bearer token */
  refused(error: AuthError, description: string, scheme?: Scheme): HttpAnswer;
  /** The token is good, and not for this operation. @param needed what it has to be good for as well */
  insufficient(needed: readonly string[], scheme?: Scheme): HttpAnswer;
  /** Whether the token is good cannot be said now. */
  unavailable(): HttpAnswer;
}

/** Each response names the ways that can be gone: `DPoP` where it was tried, or is configured; `Bearer` unless it is not. */
export function createChallenges(metadataUrl: string, { scopes = [], dpop }: AuthOptions): Challenges {
  const where = `resource_metadata="${metadataUrl}"`;
  const scopeOf = (needed: readonly string[]): readonly string[] =>
    needed.length === 0 ? [] : [`scope="${needed.join(' ')}"`];
  const algorithms = `algs="${(dpop?.algorithms ?? DEFAULT_ALGORITHMS).join(' ')}"`;
  const one = (scheme: Scheme, parts: readonly string[], needed: readonly string[]): string =>
    `${scheme} ${[where, ...parts, ...scopeOf(needed), ...(scheme === 'DPoP' ? [algorithms] : [])].join(', ')}`;

  function challenge(
    parts: readonly string[],
    tried: Scheme | undefined,
    needed: readonly string[] = scopes,
  ): Record<string, string> {
    const required = dpop?.required === true;
    const asked = tried ?? (required ? 'DPoP' : 'Bearer');
    // Clients that know nothing of DPoP look at the first.
    const other = dpop !== undefined && asked === 'Bearer' ? [one('DPoP', [], needed)] : [];
    return { 'WWW-Authenticate': [one(asked, parts, needed), ...other].join(', ') };
  }

  return {
    needed: () => refusal(401, -32_000, 'A token is needed, in the Authorization header', challenge([], undefined)),
    refused: (error, description, scheme) => {
      const parts = [`error="${error}"`, `error_description="${quotable(description)}"`];
      return refusal(STATUS[error], -32_000, description, challenge(parts, scheme));
    },
    insufficient(needed, scheme) {
      const description = `This takes a token with the scope ${needed.join(' ')}`;
      // The new token also needs the scopes that every token needs.
      const all = [...new Set([...scopes, ...needed])];
      const parts = ['error="insufficient_scope"', `error_description="${quotable(description)}"`];
      return refusal(STATUS.insufficient_scope, -32_000, description, challenge(parts, scheme, all));
    },
    unavailable: () =>
      refusal(503, -32_000, 'The token cannot be verified now; try again later', { 'Retry-After': '5' }),
  };
}

/** The characters that RFC 6750 lets a description have; a quotation mark is none of them. */
const quotable = (text: string): string => text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?');
