/** Lets a user authorize Vitrine at an upstream: by code with PKCE, in the user's own browser (RFC 6749 4.1, RFC 8252). */
import { randomBytes } from 'node:crypto';
import { auth, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { ResourceError } from '../../../core/errors.ts';
import { listenForCallback } from './callback.ts';
import { codeFlow } from './code-flow.ts';
import type { AuthTarget, OAuthConfig } from './config.ts';
import { endpointFetch } from './endpoints.ts';
import { noToken } from './failures.ts';
import type { Challenge } from './renewing.ts';
import { tokenFile } from './token-file.ts';

export interface AuthorizeOptions {
  /** Shows the user the address to open in a browser. */
  readonly onAddress: (address: URL) => void;
  /** How long the user may take, in milliseconds. Default: 300,000. */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 300_000;

/**
 * Waits for the user to authorize Vitrine at the upstream, and saves the tokens in a file, from which running gateways read them.
 * Tokens that were saved before are replaced only if this succeeds.
 * @throws ResourceError `denied` if the user or the server refuses, `timeout` if the user takes too long, else `unavailable`
 */
export async function authorizeUpstream(
  config: OAuthConfig,
  target: AuthTarget,
  { onAddress, timeoutMs = TIMEOUT_MS }: AuthorizeOptions,
): Promise<void> {
  const state = randomBytes(32).toString('base64url');
  const timeout = new AbortController();
  await using callback = await listenForCallback(config.redirectPort ?? 0, state);
  const timer = setTimeout(() => timeout.abort(tooLate(target.mount)), timeoutMs);
  try {
    const flow = codeFlow({ config, redirectUrl: callback.redirectUrl, state, onAddress });
    const options = {
      serverUrl: target.url,
      fetchFn: endpointFetch(target.url, timeout.signal),
      ...(await challengeOf(target.url, timeout.signal)),
      ...(config.scope !== undefined && { scope: config.scope }),
    };
    await auth(flow.provider, options);
    const { code, iss } = await orAborted(callback.answer, timeout.signal);
    await auth(flow.provider, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) });
    const file = tokenFile(target);
    await file.exclusively(async () => {
      const result = flow.result();
      if (result !== undefined) await file.save(result);
    });
  } catch (error) {
    timeout.signal.throwIfAborted();
    throw noToken(target.mount, error);
  } finally {
    clearTimeout(timer);
  }
}

const tooLate = (mount: string): ResourceError =>
  new ResourceError('timeout', `Vitrine was not authorized at upstream "${mount}" in time; run the command again`);

/** Waits for a promise until the signal is aborted. @throws the reason of the signal */
function orAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    awaited.then(resolve, reject);
  });
}

/** Asks the upstream without a token, to learn where its metadata is and which scopes it wants. */
async function challengeOf(url: string, signal: AbortSignal): Promise<Challenge> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(CHALLENGE_MS)]),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return {
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  };
}

/** How long the upstream may take for its first answer, in milliseconds. */
const CHALLENGE_MS = 15_000;
