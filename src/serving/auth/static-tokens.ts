/** Verifies static tokens. Only their hashes are stored. */
import { hash as digestOf, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../core/context.ts';
import type { StaticToken } from './options.ts';

/** Returns the principal of a token; undefined for an unknown one. Takes the same time for a wrong token as for a right one. */
export type StaticTokens = (token: string) => Principal | undefined;

export function createStaticTokens(tokens: readonly StaticToken[]): StaticTokens {
  const holders = tokens.map(({ name, hash, scopes = [], groups = [] }) => ({
    digest: Buffer.from(hash, /^[0-9a-f]{64}$/i.test(hash) ? 'hex' : 'base64url'),
    principal: Object.freeze<Principal>({ id: `token:${name}`, subject: name, scopes, groups }),
  }));
  return (token) => {
    const digest = digestOf('sha256', token, 'buffer');
    let found: Principal | undefined;
    for (const holder of holders) if (timingSafeEqual(holder.digest, digest)) found = holder.principal;
    return found;
  };
}
