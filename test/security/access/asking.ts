/** Raw requests of one person over HTTP, over connections that stay open, and their outcomes. */
import type { Era } from '../../e2e/harness.ts';
import { ENVELOPE, JSON_HEADERS } from '../../e2e/raw.ts';
import { bearer, begin, sessionHeaders } from '../authorization-servers.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

export type Ask = (method: string, params?: Readonly<Record<string, unknown>>) => Promise<Reply>;

const ID = 7;

/** Gives a function that sends requests of one person, in the 2025 era in a session of that person. */
export async function askerOf(
  url: string,
  era: Era,
  token: string | undefined,
  capabilities: object = {},
): Promise<Ask> {
  const session = era === 'modern' ? undefined : (await begin(url, token)).session;
  if (era === 'legacy' && session === undefined) throw new Error('no session was begun');
  let id = ID;
  return async (method, params = {}) => {
    const { uri, name } = params as { readonly uri?: string; readonly name?: string };
    const called = ['tools/call', 'prompts/get', 'resources/read'].includes(method) ? (name ?? uri) : undefined;
    const ofEra: Record<string, string> =
      session !== undefined
        ? sessionHeaders(session)
        : {
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': method,
            ...(called !== undefined && { 'mcp-name': inHeader(called) }),
          };
    const meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': capabilities };
    const _meta = { ...(params._meta as object | undefined), ...(era === 'modern' && meta) };
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...bearer(token), ...ofEra },
      body: JSON.stringify({ jsonrpc: '2.0', id: era === 'modern' ? ID : ++id, method, params: { ...params, _meta } }),
    });
    const text = await response.text();
    const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
    const { result, error } = (data === '' ? {} : JSON.parse(data)) as Pick<Reply, 'result' | 'error'>;
    return { status: response.status, headers: response.headers, text, result, ...(error !== undefined && { error }) };
  };
}

/** Encodes a name that a header cannot contain as it is. */
const inHeader = (name: string): string =>
  /^[\x21-\x7e]*$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;

/** Gives the part of a filter that a listen stream honours, as the server acknowledges it. Then ends the stream. */
export async function honoured(
  url: string,
  token: string | undefined,
  uris: readonly string[],
): Promise<readonly string[]> {
  const gone = new AbortController();
  const response = await fetch(url, {
    method: 'POST',
    signal: gone.signal,
    headers: {
      ...JSON_HEADERS,
      ...bearer(token),
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: ID,
      method: 'subscriptions/listen',
      params: { _meta: ENVELOPE, notifications: { resourceSubscriptions: uris } },
    }),
  });
  const chunks: string[] = [];
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(Buffer.from(chunk).toString());
      const message = /^data: (\{.*acknowledged.*)$/m.exec(chunks.join(''))?.[1];
      if (message === undefined) continue;
      const { params } = JSON.parse(message) as {
        readonly params: { readonly notifications: { readonly resourceSubscriptions?: readonly string[] } };
      };
      return params.notifications.resourceSubscriptions ?? [];
    }
  } finally {
    gone.abort();
  }
  throw new Error(`no acknowledgement: ${response.status} ${chunks.join('')}`);
}
