/** Vitrine authorizes itself with a client id and a secret, without a user (RFC 6749 4.4). */
import { type AuthProvider, ClientCredentialsProvider } from '@modelcontextprotocol/client';
import type { AuthTarget, ClientCredentialsConfig } from './config.ts';
import { grantedAuth } from './granted.ts';

export const clientCredentialsAuth = (config: ClientCredentialsConfig, target: AuthTarget): AuthProvider =>
  grantedAuth(target, config, ({ issuer }) => {
    const { clientId, clientSecret } = config;
    return new ClientCredentialsProvider({ clientId, clientSecret, clientName: 'Vitrine', expectedIssuer: issuer });
  });
