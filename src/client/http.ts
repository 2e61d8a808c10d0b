/** Connecting to a server by its URL: a client in whichever era the server speaks, whose streams are looked after. */
import {
  type AuthProvider,
  Client,
  type ClientOptions,
  type Implementation,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { abortable, type Connect } from './connection.ts';
import { ResourceClientError } from './errors.ts';
import { limitBody } from './message-limit.ts';

/** How the client presents itself, and what it can do for the server. */
export interface ClientTarget {
  /** Name and version of the program. Default: `vitrine-client`, without a version of its own. */
  readonly clientInfo?: Implementation | undefined;
  /** Options of the SDK's client: capabilities, version negotiation. Default: the newest era that the server speaks. */
  readonly clientOptions?: ClientOptions | undefined;
  /** Called with each client before it connects, to set its handlers. */
  readonly prepare?: ((client: Client) => void) | undefined;
  /** Milliseconds for connecting. Default 30,000. */
  readonly connectTimeoutMs?: number | undefined;
}

/** A server behind a URL, over Streamable HTTP. */
export interface HttpTarget extends ClientTarget {
  readonly url: string | URL;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** OAuth, as the SDK has it, or anything else that gives tokens. */
  readonly authProvider?: OAuthClientProvider | AuthProvider | undefined;
  /** Instead of the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Bytes of one answer, or of one event of a stream; more ends it before it is parsed. Default 64 MiB. */
  readonly maxMessageBytes?: number | undefined;
}

export const DEFAULT_CONNECT_MS = 30_000;
export const DEFAULT_MESSAGE_BYTES = 64 * 1024 * 1024;

const IDENTITY: Implementation = { name: 'vitrine-client', version: '1' };

/** A client of the SDK that is not connected yet. */
export function newClient({ clientInfo = IDENTITY, clientOptions, prepare }: ClientTarget): Client {
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' }, ...clientOptions });
  prepare?.(client);
  return client;
}

/** Connects a client, or closes what there is of the connection. */
export async function open(
  client: Client,
  transport: Transport,
  { connectTimeoutMs = DEFAULT_CONNECT_MS }: ClientTarget,
  signal: AbortSignal,
): Promise<void> {
  const given = AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]);
  try {
    await abortable(client.connect(transport, { timeout: connectTimeoutMs, signal: given }), given);
  } catch (error) {
    await client.close().catch(() => {});
    // While its era is being asked for the client has no transport yet.
    await transport.close().catch(() => {});
    if (signal.aborted) throw signal.reason;
    throw given.aborted ? new ResourceClientError('timeout', 'Connecting took too long', { cause: error }) : error;
  }
}

/** How to connect to a server by its URL. */
export function httpConnect(target: HttpTarget): Connect {
  const { url, headers, authProvider, fetch: given = globalThis.fetch } = target;
  const maxBytes = target.maxMessageBytes ?? DEFAULT_MESSAGE_BYTES;
  return async ({ signal, missed }) => {
    const client = newClient(target);
    let streams = 0;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      async fetch(address, init) {
        const response = await given(address, init);
        // The stream of the 2025 era for what no request asked for. The second one follows one that was interrupted.
        if (init?.method === 'GET' && response.ok && ++streams > 1) missed();
        return limitBody(response, init?.body, maxBytes);
      },
      ...(headers !== undefined && { requestInit: { headers: { ...headers } } }),
      ...(authProvider !== undefined && { authProvider }),
      reconnectionOptions: {
        initialReconnectionDelay: 250,
        maxReconnectionDelay: 5_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 4,
      },
    });
    await open(client, transport, target, signal);
    const close = client.close.bind(client);
    client.close = async () => {
      // A session that its client is done with is not left to expire.
      let timer: ReturnType<typeof setTimeout> | undefined;
      const grace = new Promise((resolve) => {
        timer = setTimeout(resolve, GRACE_MS);
      });
      await Promise.race([transport.terminateSession().catch(() => {}), grace]);
      clearTimeout(timer);
      await close();
    };
    return client;
  };
}

/** How long a server may take to end a session, in milliseconds. */
const GRACE_MS = 1_000;
