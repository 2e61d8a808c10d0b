/** Signs a person in at an accepted issuer, with the authorization code flow and PKCE (RFC 6749, 7636, 9207, 9700). */
import { randomBytes } from 'node:crypto';
import type { AuthorizationServer } from 'oauth4webapi';
import { invalid } from '../../core/errors.ts';
import { createAsking } from './asking.ts';
import { createMetadata } from './metadata.ts';
import type { AuthOptions } from './options.ts';
import { IssuerUnavailable } from './refused.ts';

export interface SignInOptions {
  /** This server's client id at the issuer. */
  readonly clientId: string;
  /** Default: none, for a public client. */
  readonly clientSecret?: string | undefined;
  /** One of the issuers of `auth`. Default: the first of them. */
  readonly issuer?: string | undefined;
  /** Requested scopes. Default: those of `auth`, and `openid` where the issuer supports it. */
  readonly scopes?: readonly string[] | undefined;
}

export interface SignIn {
  /** @param back the page to return to. @throws IssuerUnavailable */
  begin(back: string): Promise<Begun>;
  /** @param answer of the issuer; @param sealed the value from `begin`. @throws SignInRefused, IssuerUnavailable */
  finish(answer: URLSearchParams, sealed: string): Promise<Finished>;
}

export interface Begun {
  /** The page of the issuer that the browser goes to. */
  readonly location: string;
  /** The sealed state of the sign-in, which the browser keeps and sends back. */
  readonly sealed: string;
}

export interface Finished {
  readonly token: string;
  readonly back: string;
}

/** The issuer did not sign the person in, or its answer does not belong to a sign-in of this browser. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

/** How long a person may take at the issuer, in seconds. */
export const SIGN_IN_SECONDS = 600;

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint'] as const;

/** The state of a sign-in, which the browser keeps sealed. */
interface Transaction {
  readonly state: string;
  readonly verifier: string;
  readonly nonce?: string;
  readonly back: string;
}

/**
 * @param redirectUri the address to which the issuer sends the browser back
 * @throws ResourceError `invalid` where this server would accept none of the tokens
 */
export function createSignIn(options: SignInOptions, auth: AuthOptions, redirectUri: string): SignIn {
  const { clientId, clientSecret } = options;
  const issuer = auth.issuers?.find((each) => each.issuer === (options.issuer ?? each.issuer))?.issuer;
  if (issuer === undefined) throw invalid('explorer.clientId needs an issuer of auth.issuers, which people sign in at');
  if (auth.dpop?.required === true) throw invalid('auth.dpop.required has no sign-in: its tokens are bound to no key');
  const metadata = createMetadata(issuer, ENDPOINTS);
  const ask = createAsking(issuer, (status) => status < 500);
  const key = randomBytes(32);
  const client = { client_id: clientId };

  async function serverOf(): Promise<AuthorizationServer> {
    const found = { ...(await metadata.get()), issuer };
    if (ENDPOINTS.some((endpoint) => found[endpoint] === undefined))
      throw new IssuerUnavailable(`${issuer} does not name an authorization endpoint and a token endpoint`);
    return found as AuthorizationServer;
  }

  async function sealOf(transaction: Transaction): Promise<string> {
    const { EncryptJWT } = await import('jose');
    return await new EncryptJWT({ ...transaction })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(`${SIGN_IN_SECONDS}s`)
      .encrypt(key);
  }

  async function opened(sealed: string): Promise<Transaction> {
    const { jwtDecrypt } = await import('jose');
    const decrypted = await jwtDecrypt(sealed, key).catch((cause: unknown) => {
      throw new SignInRefused('The sign-in did not begin in this browser, or took too long', { cause });
    });
    return decrypted.payload as unknown as Transaction;
  }

  return {
    async begin(back) {
      const oauth = await import('oauth4webapi');
      const server = await serverOf();
      const openid = server.scopes_supported?.includes('openid') === true ? ['openid'] : [];
      const scopes = options.scopes ?? [...(auth.scopes ?? []), ...openid];
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      // Only an ID token contains the nonce.
      const nonce = scopes.includes('openid') ? { nonce: oauth.generateRandomNonce() } : {};
      const url = new URL(server.authorization_endpoint ?? '');
      const asked = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        ...nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        resource: auth.resource,
      };
      for (const [name, value] of Object.entries(asked)) if (value !== '') url.searchParams.set(name, value);
      return { location: url.href, sealed: await sealOf({ state, verifier, ...nonce, back }) };
    },

    async finish(answer, sealed) {
      const oauth = await import('oauth4webapi');
      const { state, verifier, nonce, back } = await opened(sealed);
      const server = await serverOf();
      try {
        const code = oauth.validateAuthResponse(server, client, answer, state);
        const shown = clientSecret === undefined ? oauth.None() : oauth.ClientSecretBasic(clientSecret);
        const response = await oauth.authorizationCodeGrantRequest(server, client, shown, code, redirectUri, verifier, {
          additionalParameters: { resource: auth.resource },
          // The addresses were checked where they were discovered.
          [oauth.allowInsecureRequests]: true,
          [oauth.customFetch]: ask,
        });
        const { access_token: token } = await oauth.processAuthorizationCodeResponse(server, client, response, {
          ...(nonce !== undefined && { expectedNonce: nonce, requireIdToken: true }),
        });
        return { token, back };
      } catch (cause) {
        if (cause instanceof IssuerUnavailable) throw cause;
        throw new SignInRefused(
          'The issuer did not sign you in, or its answer does not belong to a sign-in of this browser',
          {
            cause,
          },
        );
      }
    },
  };
}
