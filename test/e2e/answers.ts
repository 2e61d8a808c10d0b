/** The shapes of answers in tests, and common requests. */
import type { Resource } from '../../src/protocol/resources.ts';
import type { Connected, Era } from './harness.ts';

export interface ListAnswer {
  readonly resources: readonly Resource[];
  readonly nextCursor?: string;
  readonly ttlMs?: number;
  readonly cacheScope?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The cache hints of a server with default options. Revisions up to 2025-11-25 do not have them. */
export const HINTS = { legacy: {}, modern: { ttlMs: 0, cacheScope: 'private' } } as const;

export const hintsIn = ({ ttlMs, cacheScope }: Readonly<Record<string, unknown>>): object => ({ ttlMs, cacheScope });

/** An item of a read, with text or blob. */
export type Item = Resource & { readonly text?: string; readonly blob?: string };

export interface ReadAnswer {
  readonly contents: readonly Item[];
  readonly ttlMs?: number;
  readonly cacheScope?: string;
}

export interface WireFailure {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The error of a missing resource as the SDK's client gives it. The client turns `-32002`, the code of the 2025 era, into `-32602`, and
 * keeps only the URI of the data.
 */
export const missing = (era: Era, uri: string): { readonly code: number; readonly data: object } => ({
  code: -32602,
  data: { uri, ...(era === 'modern' && { reason: 'not-found' }) },
});

/** The error of any other refused URI. */
export const refusedAs = (era: Era, uri: string, reason: string): { readonly code: number; readonly data: object } =>
  reason === 'not-found' ? missing(era, uri) : { code: -32602, data: { uri, reason } };

/** The error of a request. Fails if the request succeeds. */
export async function failure(request: Promise<unknown>): Promise<WireFailure> {
  try {
    await request;
  } catch (error) {
    const wire = wireError(error);
    if (wire === undefined) throw error;
    return wire;
  }
  throw new Error('the request succeeded, and should not have');
}

function wireError(error: unknown): WireFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') {
    return { code: error.code, message: error.message, data: 'data' in error ? asData(error.data) : undefined };
  }
  // With some HTTP statuses, the SDK puts the JSON-RPC error into the text of its own error.
  const body = /\{.*\}$/s.exec(error.message)?.[0];
  if (body === undefined) return undefined;
  const { code, message, data } = (JSON.parse(body) as { error: { code: number; message: string; data?: unknown } })
    .error;
  return { code, message, data: asData(data) };
}

const asData = (data: unknown): WireFailure['data'] => data as WireFailure['data'];

export async function read(on: Connected, uri: string, window?: { offset?: number; length?: number }): Promise<Item[]> {
  const params = window === undefined ? { uri } : { uri, _meta: { 'vitrine/range': window } };
  const { contents } = await on.request<ReadAnswer>('resources/read', params);
  return [...contents];
}

/** The only item of a read. */
export async function readOne(
  on: Connected,
  uri: string,
  window?: { offset?: number; length?: number },
): Promise<Item> {
  const [item, ...others] = await read(on, uri, window);
  const apart = others.filter((other) => other.uri !== item?.uri || other.mimeType === item?.mimeType);
  if (item === undefined || apart.length > 0) throw new Error(`${uri} has ${others.length + (item ? 1 : 0)} items`);
  return item;
}

/** The bytes of an item with text or blob. */
export function bytesOf(item: Item): Buffer {
  if (item.text !== undefined) return Buffer.from(item.text, 'utf8');
  return Buffer.from(item.blob ?? '', 'base64');
}

/** Every page of a list, one after the other. */
export async function pages(
  on: Connected,
  method: string,
  params: Record<string, unknown> = {},
): Promise<ListAnswer[]> {
  const all: ListAnswer[] = [];
  let cursor: string | undefined;
  do {
    const page: ListAnswer = await on.request<ListAnswer>(
      method,
      cursor === undefined ? params : { ...params, cursor },
    );
    all.push(page);
    if (all.length > 10_000) throw new Error('the pages do not end');
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

/** Every entry of a list, over all its pages. */
export async function drain(on: Connected, method: string, params: Record<string, unknown> = {}): Promise<Resource[]> {
  return (await pages(on, method, params)).flatMap((page) => page.resources);
}

export async function metadata(on: Connected, uri: string): Promise<Resource> {
  return (await on.request<{ resource: Resource }>('resources/metadata', { uri })).resource;
}

/** The item without its content: the fields that have to be the same everywhere (2093-1). */
export function described(item: Item): Resource {
  const { text: _text, blob: _blob, _meta, ...resource } = item;
  const { 'vitrine/version': _version, ...meta } = _meta ?? {};
  return Object.keys(meta).length === 0 ? resource : { ...resource, _meta: meta };
}
