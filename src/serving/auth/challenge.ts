/** Refusals that say how to do better: `WWW-Authenticate` as in RFC 6750, RFC 9728 5.1 and MCP's authorization. */
import { refusal } from '../sessions.ts';

/** The reasons that RFC 6750 3.1 has a word for. */
export type BearerError = 'invalid_request' | 'invalid_token' | 'insufficient_scope';

const STATUS: Readonly<Record<BearerError, number>> = {
  invalid_request: 400,
  invalid_token: 401,
  insufficient_scope: 403,
};

export interface Challenges {
  /** Asks for a token; what was sent had none. */
  needed(): Response;
  refused(error: BearerError, description: string): Response;
  /** Whether the token is good cannot be said now. */
  unavailable(): Response;
}

/** @param scopes what a token needs */
export function createChallenges(metadataUrl: string, scopes: readonly string[]): Challenges {
  const where = `resource_metadata="${metadataUrl}"`;
  const scope = scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`];
  const challenge = (parts: readonly string[]): Record<string, string> => ({
    'WWW-Authenticate': `Bearer ${[where, ...parts, ...scope].join(', ')}`,
  });
  return {
    needed: () => refusal(401, -32_000, 'A token is needed, in the Authorization header', challenge([])),
    refused: (error, description) => {
      const parts = [`error="${error}"`, `error_description="${quotable(description)}"`];
      return refusal(STATUS[error], -32_000, description, challenge(parts));
    },
    unavailable: () =>
      refusal(503, -32_000, 'The token cannot be verified now; try again later', { 'Retry-After': '5' }),
  };
}

/** The characters that RFC 6750 lets a description have; a quotation mark is none of them. */
const quotable = (text: string): string => text.replaceAll('"', "'").replace(/[^\x20-\x7e]|\\/g, '?');
