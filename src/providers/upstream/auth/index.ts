/** Authorization of Vitrine at upstream servers. What clients of Vitrine authorize themselves with never comes here. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import { bearerAuth } from './bearer.ts';
import { clientCredentialsAuth } from './client-credentials.ts';
import type { AuthConfig, AuthTarget } from './config.ts';
import { enterpriseAuth } from './enterprise.ts';
import { savedAuthorization } from './saved-authorization.ts';

export { authorizeUpstream } from './authorize.ts';
export { AuthConfig, type AuthTarget } from './config.ts';

/**
 * Makes the source of tokens for the requests to one upstream. It asks for nothing until the first request; `token` and
 * `onUnauthorized` reject with a ResourceError that names the mount and what its operator can do, never a secret.
 * Make one for each upstream: all connections that have the same one share its renewals.
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
