/** How a principal goes through the SDK to where a request is answered. The token itself goes no further than HTTP. */
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/context.ts';

const PRINCIPAL = 'principal';

/** What the SDK hands on with a request. */
export const authInfoOf = (principal: Principal): AuthInfo => ({
  token: '',
  clientId: principal.clientId ?? '',
  scopes: [...(principal.scopes ?? [])],
  extra: { [PRINCIPAL]: principal },
});

/** Whose request this is; undefined where HTTP does not say, as over stdio. */
export const principalIn = (sdk: ServerContext): Principal | undefined => principalOf(sdk.http?.authInfo);

/** Whose it is that the SDK hands on. */
export const principalOf = (authInfo: AuthInfo | undefined): Principal | undefined =>
  authInfo?.extra?.[PRINCIPAL] as Principal | undefined;
