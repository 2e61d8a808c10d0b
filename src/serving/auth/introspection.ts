/**
 * Verifies opaque access tokens by asking their issuer (RFC 7662). Answers are cached for a short time, so that not every request
 * causes a question.
 */
import { createHash } from 'node:crypto';
import { createFairQueue } from '../../core/waiting/fair-queue.ts';
import { networkOf } from '../network.ts';
import { createAsking } from './asking.ts';
import { CLOCK_SKEW_S, type Claims, type Verified, verifiedOf } from './claims.ts';
import type { Shower, Verifier } from './jwt.ts';
import type { MetadataSource } from './metadata.ts';
import type { Introspection, TokenIssuer } from './options.ts';
import { createRecent } from './recent.ts';
import { IssuerUnavailable, TokenRefused } from './refused.ts';

/** How long a valid token is cached, in seconds, unless configured. */
export const DEFAULT_CACHE_S = 30;

/** The longest time that an invalid token is cached, in seconds. It is short, because the issuer may accept the token soon after. */
export const REFUSAL_CACHE_S = 10;

/** The most valid tokens in the cache, and the most invalid tokens. */
const MAX_REMEMBERED = 10_000;

/**
 * The most concurrent questions about tokens that were not valid recently; others wait, because invented tokens could flood the
 * issuer.
 */
const MAX_ASKING = 24;

/** The most concurrent questions about tokens that were valid recently; they have a separate queue. */
const MAX_ASKING_AGAIN = 8;

/** The most waiting requests in each queue. */
const MAX_WAITING = 256;

/** The longest wait, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/** How long a token counts as recently valid, in milliseconds. That only gives it the separate queue, and no access. */
const GOOD_BEFORE_MS = 60 * 60_000;

/** The most characters of a token to ask about. */
const MAX_TOKEN = 4_096;

/** Statuses that count as an answer, not as a failure: the issuer may reject an odd token, which says nothing about others. */
const ANSWERS: ReadonlySet<number> = new Set([200, 400, 413, 414, 431]);

/** @param audience the accepted values of `aud`; one is enough */
export function createIntrospection(
  issuer: TokenIssuer & { readonly introspection: Introspection },
  audience: readonly string[],
  metadata: MetadataSource,
): Verifier {
  const { clientId, url, cacheSeconds = DEFAULT_CACHE_S } = issuer.introspection;
  const ask = createAsking(issuer.issuer, (status) => ANSWERS.has(status));
  const good = createRecent<Verified>(MAX_REMEMBERED);
  const refused = createRecent<string>(MAX_REMEMBERED);
  const goodBefore = createRecent<string>(MAX_REMEMBERED);
  const asking = new Map<string, Promise<Verified>>();
  const options = { maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS, busy: 'Too many tokens are being checked' };
  const unknown = createFairQueue({ ...options, places: MAX_ASKING, limit: 'introspection' });
  const again = createFairQueue({ ...options, places: MAX_ASKING_AGAIN, limit: 'introspection' });

  /**
   * Waits for a turn, by the network of the request, because the principal is not known yet. Tokens that were valid recently do
   * not wait behind invented ones.
   */
  function turn(key: string, { from, request }: Shower): Promise<() => void> {
    const principal = goodBefore.get(key);
    const taken =
      principal === undefined
        ? unknown.take(from === undefined ? 'unknown' : networkOf(from), request.signal)
        : again.take(principal, request.signal);
    return taken.catch((cause: unknown) => {
      throw new IssuerUnavailable('Too many tokens are being checked', { cause });
    });
  }

  /** Returns the cached or pending answer, if any. @throws TokenRefused */
  function answered(key: string): Verified | Promise<Verified> | undefined {
    const cached = good.get(key);
    if (cached !== undefined) return cached;
    const reason = refused.get(key);
    if (reason !== undefined) throw new TokenRefused(reason);
    return asking.get(key);
  }

  async function answerFor(token: string): Promise<Claims> {
    const { allowInsecureRequests, customFetch, introspectionRequest, processIntrospectionResponse } = await import(
      'oauth4webapi'
    );
    const endpoint = url ?? (await metadata.get()).introspection_endpoint;
    if (endpoint === undefined) throw new IssuerUnavailable(`${issuer.issuer} does not name an introspection endpoint`);
    const server = { issuer: issuer.issuer, introspection_endpoint: endpoint };
    const client = { client_id: clientId };
    const response = await introspectionRequest(server, client, await credentialsOf(issuer.introspection), token, {
      additionalParameters: { token_type_hint: 'access_token' },
      // The addresses were checked where they were configured or discovered.
      [allowInsecureRequests]: true,
      [customFetch]: ask,
    });
    return await processIntrospectionResponse(server, client, response).catch((cause: unknown) => {
      throw new IssuerUnavailable(`${issuer.issuer} gave an unexpected answer to an introspection`, { cause });
    });
  }

  async function verify(token: string, key: string): Promise<Verified> {
    try {
      const claims = await answerFor(token);
      assertGood(claims, issuer.issuer, audience);
      const verified = verifiedOf(claims, issuer);
      good.set(key, verified, Math.min(Date.now() + cacheSeconds * 1_000, verified.expiresAt ?? 0));
      goodBefore.set(key, verified.principal.id, Date.now() + GOOD_BEFORE_MS);
      return verified;
    } catch (error) {
      if (error instanceof TokenRefused) {
        refused.set(key, error.message, Date.now() + Math.min(cacheSeconds, REFUSAL_CACHE_S) * 1_000);
      }
      throw error;
    }
  }

  /** Starts to verify a token. Its place in the queue is free again when the answer arrives, even if no request waits any more. */
  function begin(token: string, key: string, release: () => void): Promise<Verified> {
    const answer = verify(token, key).finally(() => {
      asking.delete(key);
      release();
    });
    asking.set(key, answer);
    return answer;
  }

  return async (token, shower) => {
    if (token.length > MAX_TOKEN) throw new TokenRefused('This server does not know the token');
    const key = createHash('sha256').update(token).digest('base64');
    const before = answered(key);
    if (before !== undefined) return await before;
    const release = await turn(key, shower);
    try {
      // Another request may have checked the token meanwhile.
      const meanwhile = answered(key);
      if (meanwhile === undefined) return await begin(token, key, release);
      release();
      return await meanwhile;
    } catch (error) {
      release();
      throw error;
    }
  };
}

async function credentialsOf({ clientSecret, clientAuthentication }: Introspection) {
  const { ClientSecretBasic, ClientSecretPost } = await import('oauth4webapi');
  return clientAuthentication === 'post' ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
}

/**
 * Checks as strictly as for a JWT, except that `iss` may be missing, because the answer comes from the issuer.
 * @throws TokenRefused
 */
function assertGood(claims: Claims, issuer: string, audience: readonly string[]): void {
  const now = Date.now() / 1_000;
  const { active, iss, aud, exp, nbf, token_type: type } = claims;
  if (active !== true) throw new TokenRefused('The issuer does not know the token, or it is not valid any more');
  if (iss !== undefined && iss !== issuer)
    throw new TokenRefused('The token is not of an issuer that this server trusts');
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audience.some((each) => audiences.includes(each))) throw new TokenRefused('The token is not for this resource');
  if (typeof exp === 'number' && exp + CLOCK_SKEW_S <= now) throw new TokenRefused('The token has expired');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf - CLOCK_SKEW_S <= now)) {
    throw new TokenRefused('The token is not good yet');
  }
  // A refresh token is active too; if the issuer names the type, it must be an access token (RFC 6749 7.1).
  if (type !== undefined && !/^(?:bearer|dpop)$/i.test(String(type))) {
    throw new TokenRefused('The token is not an access token');
  }
  if (/^dpop$/i.test(String(type)) && claims.cnf === undefined) {
    throw new TokenRefused('The token is bound to a key in a way that this server does not support');
  }
}
