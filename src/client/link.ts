/**
 * A link is one connection to a server, in the era that the server speaks. It uses the SDK's client, returns results as they
 * are on the wire, and reports each notification after the client's own handlers got it.
 */
import type {
  Client,
  Implementation,
  JSONRPCMessage,
  McpSubscription,
  SubscriptionFilter,
  Transport,
} from '@modelcontextprotocol/client';
import type { Data, Era } from '../connection/data.ts';
import { endsConnection, isGivenUp } from '../connection/faults.ts';
import { anyResult, type ResourceExtensions, resourceExtensionsIn } from '../connection/results.ts';
import { sendMeant, uncheckedMethod } from '../connection/whole-messages.ts';
import { mendedImplementation } from '../protocol/implementation.ts';
import { SERVER_INFO_KEY } from '../protocol/meta.ts';
import type { Icon } from '../protocol/resources.ts';
import { clientError, invalidAnswer, ResourceClientError, withSeen } from './errors.ts';

export type { Data, Era };

/** Facts that the server declares. A server may support more than it declares: the client finds that out by asking. */
export interface ServerFacts extends ResourceExtensions {
  readonly era: Era;
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** A name to show to people, in the place of `name`. */
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** As the server sends it. Let `trustWebsite` decide whether it may be followed (973-4). */
  readonly websiteUrl: string | undefined;
  /** As the server sends them. Let `trustIcon` decide whether one may be shown (973-4). */
  readonly icons: readonly Icon[] | undefined;
  readonly instructions: string | undefined;
  /** The server's capabilities, with every field. */
  readonly capabilities: Data;
  readonly resources: boolean;
  readonly subscribe: boolean;
  readonly listChanged: boolean;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface LinkEvents {
  notified(method: string, params: Data): void;
  /** A stream of notifications was interrupted: notifications may be lost. */
  missed(): void;
  /** The connection has ended: nothing comes any more. Called once. */
  ended(): void;
}

export interface Link {
  readonly client: Client;
  readonly era: Era;
  readonly facts: ServerFacts;
  /** Facts that the client found out by asking. */
  readonly learned: Learned;
  /** @throws ResourceClientError */
  request(method: string, params: Data, options: RequestOptions): Promise<Data>;
  /** Opens a stream of notifications, in the 2026 era. @throws ResourceClientError */
  listen(filter: SubscriptionFilter, options: RequestOptions): Promise<McpSubscription>;
  readonly ended: boolean;
  /** Stops looking at the client's messages. The client stays open. */
  release(): void;
}

/** How the client gets the children of a resource from this server. */
export type Scoping = 'scoped-list' | 'directory-read' | 'trailing-slash' | 'flat-list';

export interface Learned {
  /** Whether the server answers requests for metadata; undefined while neither declared nor tried. */
  metadata: boolean | undefined;
  /** Whether the server lists the children of one URI; undefined while neither declared nor tried. */
  scoped: boolean | undefined;
}

/**
 * @param client a connected client
 * @param owned whether a new client is made when the connection is lost, so that a broken request may end the link
 */
export function createLink(client: Client, events: LinkEvents, owned: boolean): Link {
  const facts = factsOf(client);
  const lost = (error: unknown): boolean =>
    endsConnection(error, facts.era) && (owned || !(error instanceof TypeError));
  let ended = false;
  const restore: (() => void)[] = [];
  const release = (): void => {
    for (const undo of restore.splice(0)) undo();
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
    if (isGivenUp(error)) end();
  };
  client.onclose = closing;
  client.onerror = failing;
  restore.push(() => {
    // A handler that somebody else has set since stays.
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
    era: facts.era,
    facts,
    learned: {
      metadata: facts.metadata ? true : undefined,
      scoped: facts.metadata ? true : undefined,
    },
    async request(method, params, { signal, timeoutMs }) {
      signal?.throwIfAborted();
      try {
        return await client.request({ method: uncheckedMethod(method, facts.era), params }, anyResult, {
          timeout: timeoutMs,
          ...(signal !== undefined && { signal }),
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (lost(error)) {
          end();
          throw new ResourceClientError('unavailable', withSeen('The connection to the server is lost', error), {
            cause: error,
          });
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
        if (lost(error)) end();
        throw clientError(error);
      }
    },
    get ended() {
      return ended;
    },
    release,
  };
}

/** Reports each notification after the client has handled it, and has requests sent under their own method names, until `restore` runs. */
function observe(
  transport: Transport | undefined,
  notified: (message: { readonly method: string; readonly params: Data }) => void,
  restore: (() => void)[],
): void {
  if (transport === undefined) throw invalidAnswer('The client is not connected');
  restore.push(sendMeant(transport));
  const deliver = transport.onmessage;
  const observing = (message: JSONRPCMessage, extra?: unknown): void => {
    deliver?.(message, extra as never);
    if ('method' in message && !('id' in message)) {
      notified({ method: message.method, params: (message.params ?? {}) as Data });
    }
  };
  transport.onmessage = observing as NonNullable<Transport['onmessage']>;
  // A transport may wrap the handler, so the wrapped one is read back to be compared later.
  const installed = transport.onmessage;
  restore.push(() => {
    if (transport.onmessage === installed && deliver !== undefined) transport.onmessage = deliver;
  });
}

function factsOf(client: Client): ServerFacts {
  const capabilities = (client.getServerCapabilities() ?? {}) as Data;
  const resources = capabilities.resources as Data | undefined;
  const server = serverOf(client);
  return {
    era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
    name: server?.name,
    version: server?.version,
    title: server?.title,
    description: server?.description,
    websiteUrl: server?.websiteUrl,
    icons: server?.icons,
    instructions: client.getInstructions(),
    capabilities,
    resources: resources !== undefined,
    subscribe: resources?.subscribe === true,
    listChanged: resources?.listChanged === true,
    ...resourceExtensionsIn(capabilities),
  };
}

/** Returns the server's `serverInfo`. In the 2026 era the SDK drops it if it refuses the icons, so it is read here. */
function serverOf(client: Client): Implementation | undefined {
  const declared = mendedImplementation(client.getDiscoverResult()?._meta?.[SERVER_INFO_KEY]);
  return (declared as Implementation | undefined) ?? client.getServerVersion();
}
