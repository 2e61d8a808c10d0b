/**
 * One connection to a server, in the era that it speaks: the SDK's client with results as they are on the wire, and its
 * notifications told on without being in the way of the handlers that the client has already.
 */
import type {
  Client,
  JSONRPCMessage,
  McpSubscription,
  StandardSchemaV1,
  SubscriptionFilter,
  Transport,
} from '@modelcontextprotocol/client';
import { DIRECTORY_EXTENSION, SEP_2093_EXTENSION } from '../protocol/meta.ts';
import { clientError, endsConnection, invalidAnswer, ResourceClientError } from './errors.ts';

/** Any JSON object. */
export type Data = Readonly<Record<string, unknown>>;

export type Era = 'legacy' | 'modern';

/** What the server declares. What it does not declare it may have all the same: that is found out by asking. */
export interface ServerFacts {
  /** `legacy` is the protocol up to 2025-11-25, `modern` that of 2026-07-28. */
  readonly era: Era;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly instructions: string | undefined;
  /** The server's capabilities, with every field. */
  readonly capabilities: Data;
  readonly resources: boolean;
  readonly subscribe: boolean;
  readonly listChanged: boolean;
  /** SEP-2093 is declared: metadata, lists by URI, capabilities of each resource. */
  readonly metadata: boolean;
  /** `resources/directory/read` is declared. */
  readonly directories: boolean;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface LinkEvents {
  notified(method: string, params: Data): void;
  /** A stream of notifications was interrupted: some may be lost. */
  missed(): void;
  /** Nothing comes any more. Told once. */
  ended(): void;
}

export interface Link {
  readonly client: Client;
  readonly facts: ServerFacts;
  /** What was found out by asking. */
  readonly learned: Learned;
  /** @throws ResourceClientError */
  request(method: string, params: Data, options: RequestOptions): Promise<Data>;
  /** Opens a stream of notifications, in the 2026 era. @throws ResourceClientError */
  listen(filter: SubscriptionFilter, options: RequestOptions): Promise<McpSubscription>;
  readonly ended: boolean;
  /** Stops looking at the client's messages; does not close it. */
  release(): void;
}

/** How the children of a resource can be had from this server. */
export type Scoping = 'scoped-list' | 'directory-read' | 'trailing-slash' | 'flat-list';

export interface Learned {
  /** Undefined until it was tried. */
  metadata: boolean | undefined;
  scoped: boolean | undefined;
  directories: boolean | undefined;
}

/** The SIG's `resources/directory/read` comes with this extension (SEP-2640). */
const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

/** Takes any result: the SDK's own schemas drop the fields that they do not know. */
export const anyResult: StandardSchemaV1<unknown, Data> = {
  '~standard': {
    version: 1,
    vendor: 'vitrine',
    validate: (value: unknown) =>
      typeof value === 'object' && value !== null ? { value: value as Data } : { issues: [{ message: 'no object' }] },
  },
};

/** @param client is connected */
export function createLink(client: Client, events: LinkEvents): Link {
  const facts = factsOf(client);
  let ended = false;
  const restore: (() => void)[] = [];
  const release = (): void => {
    for (const each of restore.splice(0)) each();
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
    release();
    events.ended();
  };

  observe(client.transport, ({ method, params }) => events.notified(method, params), restore);
  const { onclose, onerror } = client;
  const closing = (): void => {
    onclose?.();
    end();
  };
  const failing = (error: Error): void => {
    onerror?.(error);
    if (/^SSE stream disconnected/.test(error.message)) events.missed();
    if (/^Maximum reconnection attempts/.test(error.message)) end();
  };
  client.onclose = closing;
  client.onerror = failing;
  restore.push(() => {
    // Somebody else may look at it by now, too.
    if (client.onclose === closing) {
      if (onclose === undefined) delete client.onclose;
      else client.onclose = onclose;
    }
    if (client.onerror === failing) {
      if (onerror === undefined) delete client.onerror;
      else client.onerror = onerror;
    }
  });

  return {
    client,
    facts,
    learned: {
      metadata: facts.metadata ? true : undefined,
      scoped: facts.metadata ? true : undefined,
      directories: facts.directories ? true : undefined,
    },
    async request(method, params, { signal, timeoutMs }) {
      signal?.throwIfAborted();
      try {
        return await client.request({ method, params }, anyResult, {
          timeout: timeoutMs,
          ...(signal !== undefined && { signal }),
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (endsConnection(error, facts.era)) {
          end();
          throw new ResourceClientError('unavailable', 'The connection to the server is lost', { cause: error });
        }
        const { uri, cursor } = params;
        throw clientError(error, { ...(typeof uri === 'string' && { uri }), cursor: cursor !== undefined });
      }
    },
    async listen(filter, { signal, timeoutMs }) {
      signal?.throwIfAborted();
      try {
        return await client.listen(filter, { timeout: timeoutMs, ...(signal !== undefined && { signal }) });
      } catch (error) {
        signal?.throwIfAborted();
        if (endsConnection(error, facts.era)) end();
        throw clientError(error);
      }
    },
    get ended() {
      return ended;
    },
    release,
  };
}

/** Looks at each message when the client has taken it, until it is released. */
function observe(
  transport: Transport | undefined,
  notified: (message: { readonly method: string; readonly params: Data }) => void,
  restore: (() => void)[],
): void {
  if (transport === undefined) throw invalidAnswer('The client is not connected');
  const deliver = transport.onmessage;
  const looking = (message: JSONRPCMessage, extra?: unknown): void => {
    deliver?.(message, extra as never);
    if ('method' in message && !('id' in message)) {
      notified({ method: message.method, params: (message.params ?? {}) as Data });
    }
  };
  transport.onmessage = looking as NonNullable<Transport['onmessage']>;
  restore.push(() => {
    if (transport.onmessage === looking && deliver !== undefined) transport.onmessage = deliver;
  });
}

function factsOf(client: Client): ServerFacts {
  const capabilities = (client.getServerCapabilities() ?? {}) as Data;
  const resources = capabilities.resources as Data | undefined;
  const extensions = (capabilities.extensions ?? {}) as Data;
  const server = client.getServerVersion();
  return {
    era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
    name: server?.name,
    version: server?.version,
    instructions: client.getInstructions(),
    capabilities,
    resources: resources !== undefined,
    subscribe: resources?.subscribe === true,
    listChanged: resources?.listChanged === true,
    metadata: extensions[SEP_2093_EXTENSION] !== undefined,
    directories: extensions[DIRECTORY_EXTENSION] !== undefined || extensions[SKILLS_EXTENSION] !== undefined,
  };
}
