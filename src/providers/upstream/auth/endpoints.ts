/**
 * Sends requests to authorization servers. The upstream names their addresses, so they are not trusted: requests go only to
 * safe URLs, a POST follows no redirect, and answers are limited in time and size. An error answer to a request that carried
 * secrets is cut down to its error code, because its text may quote them.
 */

import { type FetchLike, OAuthErrorCode } from '@modelcontextprotocol/client';
import { isLoopback } from '../../../core/hosts.ts';
import { isData } from '../../../protocol/data.ts';

/** How long one answer may take, in milliseconds. */
const ANSWER_MS = 15_000;

/** The largest answer that is read, in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

const MAX_REDIRECTS = 3;

/** The most characters that are kept of an authorization server's own words, if these cannot quote a secret. */
const MAX_WORDS = 200;

/**
 * Makes a `fetch` for discovery, registration and tokens of one upstream. Like `fetch`, it rejects with a TypeError if there
 * is no answer.
 */
export function endpointFetch(upstream: string, signal?: AbortSignal): FetchLike {
  return async (input, init = {}) => {
    const limits = [AbortSignal.timeout(ANSWER_MS), ...(signal === undefined ? [] : [signal])];
    try {
      const url = new URL(String(input));
      const response = await requested(url, new URL(upstream), { ...init, signal: AbortSignal.any(limits) });
      const text = await boundedText(response);
      return init.method === 'POST' ? discreet(response, text, init) : copyOf(response, text);
    } catch (cause) {
      throw new TypeError('An authorization server does not answer', { cause });
    }
  };
}

async function requested(url: URL, upstream: URL, init: RequestInit): Promise<Response> {
  for (let hops = 0, at = url; ; hops++) {
    if (!isSafe(at, upstream)) throw new TypeError('An authorization server is not at an https: URL');
    const response = await fetch(at, { ...init, redirect: 'manual' });
    const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
    if (next === null) return response;
    await response.body?.cancel();
    if (init.method === 'POST' || hops === MAX_REDIRECTS) throw new TypeError('An authorization server redirects');
    at = new URL(next, at);
  }
}

/** Allows https anywhere, plain http at the upstream itself, and plain http on this machine if the upstream is on it too. */
function isSafe(url: URL, upstream: URL): boolean {
  if (url.protocol === 'https:' || url.origin === upstream.origin) return true;
  return url.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(upstream.hostname);
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new TypeError('An authorization server answers with too much');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Returns the answer to a POST: whole if it is a success, else no more than a known error code and, for a registration, the
 * server's words.
 */
function discreet(response: Response, text: string, { body }: RequestInit): Response {
  const answer = parsed(text);
  if (response.ok && answer !== undefined && !('error' in answer)) return copyOf(response, text);
  const codes: readonly string[] = Object.values(OAuthErrorCode);
  const error = codes.find((code) => code === answer?.error) ?? OAuthErrorCode.ServerError;
  // A body that is a form carries tokens, codes and client secrets. A registration, which is JSON, carries none of them.
  const isJson = typeof body === 'string' && body.startsWith('{');
  const words = isJson ? wordsOf(answer?.error_description) : undefined;
  const status = response.ok ? 400 : response.status;
  return Response.json({ error, ...(words !== undefined && { error_description: words }) }, { status });
}

const wordsOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.replace(/[^\x20-\x7e]/g, ' ').slice(0, MAX_WORDS) : undefined;

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isData(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const copyOf = ({ status, headers }: Response, text: string): Response =>
  new Response([204, 205, 304].includes(status) ? null : text, {
    status,
    headers: { 'content-type': headers.get('content-type') ?? 'application/json' },
  });
