/** Authorizes Vitrine at upstream servers. Credentials of Vitrine's own clients are never used here. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import { bearerAuth } from './bearer.ts';
import { clientCredentialsAuth } from './client-credentials.ts';
import type { AuthConfig, AuthTarget } from './config.ts';
import { enterpriseAuth } from './enterprise.ts';
import { savedAuthorization } from './saved-authorization.ts';

export { authorizeUpstream } from './authorize.ts';
export { AuthConfig, type AuthTarget } from './config.ts';

/**
 * Makes the source of tokens for the requests to one upstream. It gets the first token with the first request. `token`
 * and `onUnauthorized` reject with a ResourceError that names the mount and the operator's remedy, and no secret. Make
 * one for each upstream: its connections share the tokens.
 * @throws ResourceError `invalid` for a bearer token that a header cannot carry
 */
export function createAuth(config: AuthConfig, target: AuthTarget): AuthProvider {
  switch (config.type) {
    case 'bearer':
      return bearerAuth(config, target);
    case 'client-credentials':
      return clientCredentialsAuth(config, target);
    case 'enterprise':
      return enterpriseAuth(config, target);
    case 'oauth':
      return savedAuthorization(config, target);
  }
}
