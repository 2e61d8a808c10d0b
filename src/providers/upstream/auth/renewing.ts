/** Renews a bearer token when it expires or is refused: once, however many requests wait for it. */
import { type AuthProvider, extractWWWAuthenticateParams, type OAuthTokens } from '@modelcontextprotocol/client';

/** The answer of a server that wants a token: where its metadata is, and the scopes that it wants. */
export type Challenge = Pick<ReturnType<typeof extractWWWAuthenticateParams>, 'resourceMetadataUrl' | 'scope'>;

/** The source of a token. */
export interface TokenSource {
  /** Returns the present token; undefined if there is none yet, and the server must first say what it wants. */
  held(): Promise<HeldToken | undefined>;
  /** Obtains another token. Never runs twice at a time. */
  renew(challenge: Challenge | undefined): Promise<HeldToken>;
}

export interface HeldToken {
  readonly value: string;
  /** The time, in milliseconds since the epoch, to renew it; undefined if the server gave no lifetime. */
  readonly renewAt: number | undefined;
}

/** A token is renewed this many milliseconds before it expires. A token with a short lifetime is renewed after half of that. */
const MARGIN_MS = 5_000;

/** Returns the time to renew a token that was obtained now, in milliseconds since the epoch. */
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
    // Two renewals at a time would use one refresh token twice, and many servers then revoke the whole authorization.
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
