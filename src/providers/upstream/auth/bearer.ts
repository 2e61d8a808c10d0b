/** Sends the token that the operator configured. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import { ResourceError } from '../../../core/errors.ts';
import type { AuthTarget, BearerConfig } from './config.ts';
import { headerSafe } from './failures.ts';

/** @throws ResourceError `invalid` for a token that a header cannot carry */
export function bearerAuth(config: BearerConfig, { mount }: AuthTarget): AuthProvider {
  // A secret that was read from a file often ends with a line break.
  const token = headerSafe(config.token.trim(), mount);
  return {
    token: async () => token,
    async onUnauthorized() {
      throw new ResourceError('unavailable', `Upstream "${mount}" refuses the token that is configured for it`);
    },
  };
}
