/** Sends requests to an authorization server: without redirects, with limits of size and time, and a pause after a failure. */
import { IssuerUnavailable } from './refused.ts';

/** After a failure, the same `Asking` sends no request for this long, in milliseconds. */
export const FAILURE_COOLDOWN_MS = 5_000;

/** The time limit of a request that has no signal of its own, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 256 * 1024;

/**
 * @throws IssuerUnavailable for no response, a response that is too large, or one with an unexpected status, and during the pause
 *   after a failure
 */
export type Asking = (url: string, init: RequestInit) => Promise<Response>;

/**
 * @param issuer the issuer whose server is asked, for error messages
 * @param answers whether a status is expected; any other is a failure of the server
 */
export function createAsking(issuer: string, answers: (status: number) => boolean): Asking {
  let failedAt = Number.NEGATIVE_INFINITY;
  return async (url, init) => {
    if (Date.now() - failedAt < FAILURE_COOLDOWN_MS) throw new IssuerUnavailable(`${issuer} did not answer just now`);
    try {
      const response = await fetchDocument(url, { ...init, signal: init.signal ?? AbortSignal.timeout(TIMEOUT_MS) });
      if (answers(response.status)) return response;
      throw new Error(`status ${response.status}`);
    } catch (cause) {
      failedAt = Date.now();
      throw new IssuerUnavailable(`${issuer} gave an unexpected answer`, { cause });
    }
  };
}

/** Fetches a small document. Redirects are not followed, because they could lead anywhere. */
async function fetchDocument(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_DOCUMENT_BYTES) throw new Error(`more than ${MAX_DOCUMENT_BYTES} bytes`);
    chunks.push(chunk);
  }
  // Any other status, such as that of a redirect, becomes 404: a `Response` with a body cannot have each of them.
  return new Response(Buffer.concat(chunks), {
    status: response.status === 200 || response.status >= 400 ? response.status : 404,
  });
}
