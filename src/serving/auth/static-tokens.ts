/** Static tokens, of which only the hashes are stored. */
import { hash as digestOf, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../core/context.ts';
import type { StaticToken } from './options.ts';

/** Returns the principal of a token, in the same time for a wrong token as for a right one. */
export type StaticTokens = (token: string) => Principal | undefined;

export function createStaticTokens(tokens: readonly StaticToken[]): StaticTokens {
  const known = tokens.map(({ name, hash, scopes = [], groups = [] }) => ({
    digest: Buffer.from(hash, /^[0-9a-f]{64}$/i.test(hash) ? 'hex' : 'base64url'),
    principal: Object.freeze<Principal>({ id: `token:${name}`, subject: name, scopes, groups }),
  }));
  return (token) => {
    const digest = digestOf('sha256', token, 'buffer');
    let found: Principal | undefined;
    for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.principal;
    return found;
  };
}
