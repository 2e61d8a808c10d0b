/** Requests to an authorization server: without redirects, small, in time, and not again right after a failure. */
import { IssuerUnavailable } from './refused.ts';

/** After a failure nothing is asked at the same place for this long, in milliseconds. */
export const FAILURE_COOLDOWN_MS = 5_000;

/** How long an answer may take, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 256 * 1024;

/** @throws IssuerUnavailable for no answer, one that is too large, and one with a status that is none of those wanted */
export type Asking = (url: string, init: RequestInit) => Promise<Response>;

/**
 * @param issuer whose server it is, for what is logged
 * @param answers whether a response with this status is an answer; any other is a failure of the server
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
      throw new IssuerUnavailable(`${issuer} does not answer as it should`, { cause });
    }
  };
}

/** A small document; redirects are not followed, for they would lead where nobody said that answers are. */
async function fetchDocument(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_DOCUMENT_BYTES) throw new Error(`more than ${MAX_DOCUMENT_BYTES} bytes`);
    chunks.push(chunk);
  }
  // A redirect or an empty answer has a status that a response with a body may not have.
  return new Response(Buffer.concat(chunks), {
    status: response.status === 200 || response.status >= 400 ? response.status : 404,
  });
}
