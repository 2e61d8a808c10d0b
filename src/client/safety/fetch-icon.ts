/** Fetches an icon from a URL without revealing who fetches it (973-4). */
import type { Icon } from '../../protocol/resources.ts';
import { ResourceClientError } from '../errors.ts';
import { DEFAULT_MAX_ICON_BYTES, ICON_TYPES, iconType, isIcon, type TrustOptions, trustIcon } from './trust.ts';

export interface FetchIconOptions extends TrustOptions {
  readonly signal?: AbortSignal;
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * Returns an icon as a `data:` URI for the `src` of an `img` element. A remote icon is fetched without cookies, credentials and
 * referrer; a redirect is an error; at most `maxIconBytes` are read; and the bytes must have the claimed type.
 * @throws ResourceClientError `denied` for an untrusted icon, with the reason in `data`; `unavailable`; `too-large`;
 * `invalid-answer` for content that is not an icon
 */
export async function fetchIcon(icon: Icon, options: FetchIconOptions = {}): Promise<string> {
  const trust = await trustIcon(icon, options);
  if (!trust.trusted) {
    throw new ResourceClientError('denied', `The icon is not trusted: ${trust.reason}`, {
      data: { reason: trust.reason },
    });
  }
  if (!trust.remote) return trust.src;
  const { fetch = globalThis.fetch, maxIconBytes = DEFAULT_MAX_ICON_BYTES, signal } = options;
  const init: RequestInit = { redirect: 'error', credentials: 'omit', referrerPolicy: 'no-referrer' };
  let response: Response;
  try {
    response = await fetch(trust.src, { ...init, ...(signal !== undefined && { signal }) });
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason;
    throw new ResourceClientError('unavailable', 'The icon cannot be fetched', { cause });
  }
  if (!response.ok || response.redirected || response.body === null) {
    await response.body?.cancel();
    throw new ResourceClientError('unavailable', `The icon cannot be fetched: ${response.status}`);
  }
  const bytes = await bounded(response.body, maxIconBytes);
  const types = [trust.mimeType, iconType(response.headers.get('content-type') ?? undefined), ...ICON_TYPES];
  for (const type of types) {
    if (type !== undefined && (await isIcon(type, bytes))) return `data:${type};base64,${base64(bytes)}`;
    // A claimed type is the only one to try.
    if (type !== undefined && type === trust.mimeType) break;
  }
  throw new ResourceClientError('invalid-answer', 'The content is not an icon');
}

async function bounded(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ResourceClientError('too-large', `The icon has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
