/** A bearer token that is renewed when it runs out or is refused: once, however many requests are waiting for it. */
import { type AuthProvider, extractWWWAuthenticateParams, type OAuthTokens } from '@modelcontextprotocol/client';

/** The demand of a server that wants to see a token. */
export type Challenge = Pick<ReturnType<typeof extractWWWAuthenticateParams>, 'resourceMetadataUrl' | 'scope'>;

/** The source of a token. */
export interface TokenSource {
  /** The token at hand; undefined where there is none yet and the server is to be asked what it wants. */
  held(): Promise<HeldToken | undefined>;
  /** Gets another one. Never runs twice at a time. */
  renew(challenge: Challenge | undefined): Promise<HeldToken>;
}

export interface HeldToken {
  readonly value: string;
  /** Milliseconds since the epoch from which it is not used any more; undefined where the server gave no lifetime. */
  readonly renewAt: number | undefined;
}

/** How long before its end a token is no longer used, in milliseconds. */
const MARGIN_MS = 5_000;

/** When a token that has just been got is to be renewed. */
export function renewalTime({ expires_in: seconds }: OAuthTokens): number | undefined {
  if (seconds === undefined || !Number.isFinite(seconds)) return undefined;
  const lifetime = seconds * 1_000;
  return Date.now() + lifetime - Math.min(MARGIN_MS, lifetime / 2);
}

export const isDue = ({ renewAt }: { readonly renewAt?: number | undefined }): boolean =>
  renewAt !== undefined && Date.now() >= renewAt;

export function renewingAuth(source: TokenSource): AuthProvider {
  let renewal: Promise<HeldToken> | undefined;
  const renew = (challenge?: Challenge): Promise<HeldToken> => {
    // Two at a time would spend one refresh token twice, which revokes the whole authorization at many servers.
    renewal ??= source.renew(challenge).finally(() => {
      renewal = undefined;
    });
    return renewal;
  };
  return {
    async token() {
      const held = await source.held();
      if (held === undefined) return undefined;
      return (isDue(held) ? await renew() : held).value;
    },
    async onUnauthorized({ response }) {
      await renew(extractWWWAuthenticateParams(response));
    },
  };
}
