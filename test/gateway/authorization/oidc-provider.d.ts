/** Types for the used parts of `oidc-provider`, which has none. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export interface IssuedToken {
    readonly jti: string;
    readonly aud?: string | readonly string[];
    readonly clientId?: string;
    readonly grantId?: string;
    readonly scope?: string;
    readonly isExpired: boolean;
    destroy(): Promise<void>;
  }

  export interface TokenModel {
    find(value: string): Promise<IssuedToken | undefined>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  /** The parts of a request that a registered grant handles. */
  export interface GrantContext {
    readonly oidc: {
      readonly client: { readonly clientId: string };
      readonly params: Readonly<Record<string, string | undefined>>;
    };
    status: number;
    body: unknown;
  }

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly AccessToken: TokenModel;
    readonly ClientCredentials: TokenModel;
    readonly RefreshToken: TokenModel;
    callback(): RequestListener;
    registerGrantType(name: string, handler: (context: GrantContext) => Promise<void>, params: readonly string[]): void;
    on(event: 'grant.success', listener: (context: { body: unknown }) => void): this;
    on(event: 'grant.revoked', listener: () => void): this;
  }
}
