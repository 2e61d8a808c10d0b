/**
 * Opaque access tokens: their issuer says whether they are good, and for what (RFC 7662). The answers are remembered
 * for a short time, so that a token is not asked for with each request.
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

/** How long it is remembered that a token is good, in seconds, unless it is said otherwise. */
export const DEFAULT_CACHE_S = 30;

/** How long it is remembered at most that a token is not good, in seconds: it may become known to its issuer. */
export const REFUSAL_CACHE_S = 10;

/** Good tokens that are remembered, and as many others. */
const MAX_REMEMBERED = 10_000;

/** Tokens that are asked for at the same time; others wait, or whoever makes some up would flood the issuer. */
const MAX_ASKING = 24;

/** Tokens that were good the last time and are asked for at the same time, in a queue of their own. */
const MAX_ASKING_AGAIN = 8;

/** Requests that wait until their token is asked for, of either. */
const MAX_WAITING = 256;

/** How long one waits, in milliseconds. */
const MAX_WAIT_MS = 10_000;

/** How long a token counts as good before, in milliseconds. That lets nobody in: it is only asked for in its own queue. */
const GOOD_BEFORE_MS = 60 * 60_000;

/** Characters of a token that is asked for. */
const MAX_TOKEN = 4_096;

/** An answer, and no failure of the server: it may find a token too odd to look at, which says nothing of the next one. */
const ANSWERS: ReadonlySet<number> = new Set([200, 400, 413, 414, 431]);

/** @param audience what has to stand in `aud`, one of several */
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
  const options = { maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS, busy: 'Too many tokens are being asked for' };
  const unknown = createFairQueue({ ...options, places: MAX_ASKING, limit: 'introspection' });
  const again = createFairQueue({ ...options, places: MAX_ASKING_AGAIN, limit: 'introspection' });

  /**
   * Whose turn it is, by the network that a request comes from: who a token is of is not known yet. Tokens that were good
   * the last time do not wait behind those that anybody can make up.
   */
  function turn(key: string, { from, request }: Shower): Promise<() => void> {
    const principal = goodBefore.get(key);
    const taken =
      principal === undefined
        ? unknown.take(from === undefined ? 'unknown' : networkOf(from), request.signal)
        : again.take(principal, request.signal);
    return taken.catch((cause: unknown) => {
      throw new IssuerUnavailable('Too many tokens are being asked for', { cause });
    });
  }

  /** The answer where there is one, or will be. @throws TokenRefused */
  function answered(key: string): Verified | Promise<Verified> | undefined {
    const known = good.get(key);
    if (known !== undefined) return known;
    const reason = refused.get(key);
    if (reason !== undefined) throw new TokenRefused(reason);
    return asking.get(key);
  }

  async function answerFor(token: string): Promise<Claims> {
    const { allowInsecureRequests, customFetch, introspectionRequest, processIntrospectionResponse } = await import(
      'oauth4webapi'
    );
    const endpoint = url ?? (await metadata.get()).introspection_endpoint;
    if (endpoint === undefined)
      throw new IssuerUnavailable(`${issuer.issuer} does not say where tokens are introspected`);
    const server = { issuer: issuer.issuer, introspection_endpoint: endpoint };
    const client = { client_id: clientId };
    const response = await introspectionRequest(server, client, await credentialsOf(issuer.introspection), token, {
      additionalParameters: { token_type_hint: 'access_token' },
      // Which addresses may be asked was looked at where they became known.
      [allowInsecureRequests]: true,
      [customFetch]: ask,
    });
    return await processIntrospectionResponse(server, client, response).catch((cause: unknown) => {
      throw new IssuerUnavailable(`${issuer.issuer} does not answer an introspection as it should`, { cause });
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

  /** The place is free when there is an answer, also where nobody waits for it any more. */
  function begin(token: string, key: string, release: () => void): Promise<Verified> {
    const answer = verify(token, key).finally(() => {
      asking.delete(key);
      release();
    });
    asking.set(key, answer);
    return answer;
  }

  return async (token, shower) => {
    if (token.length > MAX_TOKEN) throw new TokenRefused('The token is not one that is known here');
    const key = createHash('sha256').update(token).digest('base64');
    const before = answered(key);
    if (before !== undefined) return await before;
    const release = await turn(key, shower);
    try {
      // Others may have shown it meanwhile.
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

/** As strict as with a JWT; only `iss` may be missing, for the answer is the issuer's own. */
function assertGood(claims: Claims, issuer: string, audience: readonly string[]): void {
  const now = Date.now() / 1_000;
  const { active, iss, aud, exp, nbf, token_type: type } = claims;
  if (active !== true) throw new TokenRefused('The token is not one that is known here, or is not good any more');
  if (iss !== undefined && iss !== issuer) throw new TokenRefused('The token is not of an issuer that is trusted here');
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audience.some((each) => audiences.includes(each))) throw new TokenRefused('The token is not for this resource');
  if (typeof exp === 'number' && exp + CLOCK_SKEW_S <= now) throw new TokenRefused('The token has expired');
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf - CLOCK_SKEW_S <= now)) {
    throw new TokenRefused('The token is not good yet');
  }
  // A refresh token is active as well; where the issuer says what it is, it has to be an access token (RFC 6749 7.1).
  if (type !== undefined && !/^(?:bearer|dpop)$/i.test(String(type))) {
    throw new TokenRefused('The token is not an access token');
  }
  if (/^dpop$/i.test(String(type)) && claims.cnf === undefined) {
    throw new TokenRefused('The token is bound to a key in a way that is not known here');
  }
}
