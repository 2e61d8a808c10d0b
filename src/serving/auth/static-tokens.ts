/** Tokens that were handed out by hand, of which only the hashes are known. */
import { hash as digestOf, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../core/context.ts';
import type { StaticToken } from './options.ts';

/** Who has the token; takes as long for a wrong one as for a right one. */
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
