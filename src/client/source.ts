/** Checks what a client is made of, because callers in JavaScript may give anything. */
import type { Client } from '@modelcontextprotocol/client';
import { ResourceClientError } from './errors.ts';

const SOURCES =
  "A source is { url: 'https://...' }, a connected Client of @modelcontextprotocol/client (SDK v2), or a function that " +
  'connects one; connectResourceClient of vitrine/client/node also takes a URL as text and a command';

const CLIENT_V2 =
  'A connected Client of @modelcontextprotocol/client (SDK v2) is needed; this one is of another package, such as ' +
  '@modelcontextprotocol/sdk (SDK v1)';

/**
 * Returns the client of the SDK unchanged.
 * @throws ResourceClientError `invalid` for a client of SDK v1, and for anything that is no client
 */
export function checkedClient(client: unknown): Client {
  const { request, getDiscoverResult, getProtocolEra } = (client ?? {}) as Partial<Client>;
  if (typeof request !== 'function') throw new ResourceClientError('invalid', SOURCES);
  if (typeof getDiscoverResult === 'function' && typeof getProtocolEra === 'function') return client as Client;
  throw new ResourceClientError('invalid', CLIENT_V2);
}

/** @throws ResourceClientError `invalid` for a URL that is not an absolute one of HTTP */
export function checkUrl(url: unknown): void {
  if (/^https?:\/\//i.test(String(url)) && URL.canParse(String(url))) return;
  throw new ResourceClientError('invalid', 'url is an absolute URL with http: or https:, as http://127.0.0.1:8931/mcp');
}
