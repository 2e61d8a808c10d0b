/** Sends requests to an authorization server: without redirects, with limits of size and time, and a pause after a failure. */
import { IssuerUnavailable } from './refused.ts';

/** After a failure no request goes to the same server for this long, in milliseconds. */
export const FAILURE_COOLDOWN_MS = 5_000;

/** The time limit of a response, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 256 * 1024;

/** @throws IssuerUnavailable for no response, a response that is too large, or one with an unexpected status */
export type Asking = (url: string, init: RequestInit) => Promise<Response>;

/**
 * @param issuer whose server it is, for the log
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
  // A response with a body cannot have the status of a redirect or an empty response.
  return new Response(Buffer.concat(chunks), {
    status: response.status === 200 || response.status >= 400 ? response.status : 404,
  });
}
