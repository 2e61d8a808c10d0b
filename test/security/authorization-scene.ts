/** A guarded server with an authorization server and a configured token. */
import type { RawResponse } from '../e2e/raw.ts';
import { type Guarded, hashOf, type Issuer, SCOPES, startGuarded, startIssuer } from './authorization-servers.ts';

export const METADATA = 'https://library.example/.well-known/oauth-protected-resource/mcp';
export const STATIC = 'static-token-0123456789abcdef';

export interface Scene extends AsyncDisposable {
  readonly issuer: Issuer;
  readonly guarded: Guarded;
}

export async function setScene(): Promise<Scene> {
  const issuer = await startIssuer();
  const guarded = await startGuarded({
    issuers: [{ issuer: issuer.origin }],
    tokens: [{ name: 'till', hash: hashOf(STATIC), scopes: [SCOPES[0]], groups: ['shop'] }],
    scopes: [SCOPES[0]],
  });
  return {
    issuer,
    guarded,
    async [Symbol.asyncDispose]() {
      await guarded[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

export const challengeOf = (response: RawResponse): string => String(response.headers['www-authenticate']);
