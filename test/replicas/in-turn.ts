/** Clients whose requests go to one replica after the other, as behind a proxy without affinity. */
import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { PATIENCE_MS, until } from '../e2e/waiting.ts';

const loose = z.looseObject({});

/** A client of 2025 whose requests go to the replicas in turn. */
export interface InTurn extends AsyncDisposable {
  readonly client: Client;
  readonly session: string;
  /** The number of updates for each URI. */
  readonly updates: Map<string, number>;
  /** The methods of the notifications about lists that the client got. */
  readonly lists: string[];
  request<T>(method: string, params?: Record<string, unknown>): Promise<T>;
  /** Resolves when the client has got more than `before` updates of the URI. */
  told(uri: string, before: number): Promise<unknown>;
  /** The index of the replica that has the client's stream. */
  readonly holder: number | undefined;
}

/** @param urls gives the replicas, and is called for each request, because replicas come and go */
export async function connectInTurn(
  urls: () => readonly string[],
  options: ClientOptions & { readonly prepare?: (client: Client) => void; readonly ends?: boolean } = {},
): Promise<InTurn> {
  let turn = 0;
  let holder: number | undefined;
  const { prepare, ends = true, ...rest } = options;
  const transport = new StreamableHTTPClientTransport(new URL(urls()[0] ?? ''), {
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 50,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 1_000,
    },
    async fetch(_url, init) {
      const all = urls();
      const at = turn++ % all.length;
      const response = await fetch(all[at] ?? '', init);
      if (init?.method === 'GET' && response.ok) holder = at;
      return response;
    },
  });
  const client = new Client({ name: 'in turn', version: '1' }, { ...rest, versionNegotiation: { mode: 'legacy' } });
  prepare?.(client);
  client.onerror = () => {};
  await client.connect(transport, { timeout: PATIENCE_MS });
  const updates = new Map<string, number>();
  const lists: string[] = [];
  const deliver = transport.onmessage;
  transport.onmessage = (message: JSONRPCMessage) => {
    if ('method' in message && message.method.endsWith('list_changed')) lists.push(message.method);
    if ('method' in message && message.method === 'notifications/resources/updated') {
      const uri = String(message.params?.uri);
      updates.set(uri, (updates.get(uri) ?? 0) + 1);
    }
    deliver?.(message);
  };
  return {
    client,
    get session() {
      return transport.sessionId ?? '';
    },
    updates,
    lists,
    request: async <T>(method: string, params: Record<string, unknown> = {}) =>
      (await client.request({ method, params }, loose, { timeout: PATIENCE_MS })) as T,
    told: (uri, before) => until(() => (updates.get(uri) ?? 0) > before, `an update of ${uri}`),
    get holder() {
      return holder;
    },
    async [Symbol.asyncDispose]() {
      if (ends) await transport.terminateSession().catch(() => {});
      await client.close();
    },
  };
}
