/** Connects to a server by its URL, in whichever era the server speaks, and keeps its streams open. */
import {
  type AuthProvider,
  Client,
  type ClientOptions,
  type Implementation,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { CONNECT_MS, type DialOptions, dial } from '../connection/dial.ts';
import { httpTransport } from '../connection/http.ts';
import type { Connect } from './connection.ts';
import { checkUrl } from './source.ts';
import { timerMs } from './time-limit.ts';

/** The client's introduction and capabilities. */
export interface ClientTarget {
  /** Name and version of the program. Default: `vitrine-client`, without a version of its own. */
  readonly clientInfo?: Implementation | undefined;
  /** Options of the SDK's client: capabilities, version negotiation. Default: the newest era that the server speaks. */
  readonly clientOptions?: ClientOptions | undefined;
  /** Called with each client before it connects, to set its handlers. */
  readonly prepare?: ((client: Client) => void) | undefined;
  /** Milliseconds for connecting, above 0. Default 60,000; 300,000 for a program. */
  readonly connectTimeoutMs?: number | undefined;
  /** The most bytes of one message: a whole answer, an event, a line. A longer one fails before parsing. Default 64 MiB. */
  readonly maxMessageBytes?: number | undefined;
}

/** A server behind a URL, over Streamable HTTP. */
export interface HttpTarget extends ClientTarget {
  readonly url: string | URL;
  /** Headers of each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** An OAuth provider of the SDK, or any other source of tokens. */
  readonly authProvider?: OAuthClientProvider | AuthProvider | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const DEFAULT_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The most entries and fields in one message: a list of 100,000 resources on one page has fewer. */
const MAX_MESSAGE_VALUES = 4_000_000;

const IDENTITY: Implementation = { name: 'vitrine-client', version: '1' };

/** Makes a client of the SDK that is not connected yet. */
export function newClient({ clientInfo = IDENTITY, clientOptions, prepare }: ClientTarget): Client {
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' }, ...clientOptions });
  prepare?.(client);
  return client;
}

/** Returns a function that connects to a server by its URL. @throws ResourceClientError `invalid` for a URL that is not of HTTP */
export function httpConnect(target: HttpTarget): Connect {
  const { authProvider: auth, ...endpoint } = target;
  checkUrl(target.url);
  return async ({ signal, missed }) => {
    const client = newClient(target);
    await dial(
      client,
      (intake) => httpTransport({ ...endpoint, auth }, intake, { again: missed, ended() {} }),
      dialOptions(target, signal),
    );
    return client;
  };
}

/** Returns the limits of the server's messages, and the time for connecting. @throws ResourceClientError `invalid` for the time */
export const dialOptions = (
  target: ClientTarget,
  signal: AbortSignal,
  connectMs: number = CONNECT_MS.url,
): DialOptions => ({
  limits: { maxMessageBytes: target.maxMessageBytes ?? DEFAULT_MESSAGE_BYTES, maxMessageValues: MAX_MESSAGE_VALUES },
  timeoutMs: timerMs(target.connectTimeoutMs ?? connectMs, 'connectTimeoutMs'),
  signal,
});
