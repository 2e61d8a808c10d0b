/** Adds the methods of SEP-2093 to a server of the official SDK, v1 or v2, through its public request handlers. */
import { z } from 'zod';
import { notFound, notListable, ResourceError, toWireError } from '../core/errors.ts';
import { nameOfUri } from '../core/uri.ts';
import { RESOURCE_HIERARCHY_EXTENSION } from '../protocol/meta.ts';
import { listParams, METADATA_METHOD, metadataParams } from '../protocol/methods.ts';
import type { Resource } from '../protocol/resources.ts';
import type { HierarchyContext, HierarchyResource, ResourceHierarchy } from './hierarchy.ts';

/** The methods that the `Server`s of `@modelcontextprotocol/server` and `@modelcontextprotocol/sdk` have in common. */
export interface SdkServer {
  registerCapabilities(capabilities: Readonly<Record<string, object>>): void;
  // The versions have different parameters.
  setRequestHandler(...args: never[]): void;
}

/**
 * Serves a hierarchy: `resources/list` with and without a URI, `resources/metadata`, and `resources/read` where the hierarchy has
 * it. Declares `resources` and the extension `sep-2093/resource-hierarchy`. Replaces the server's handlers of these methods.
 * Refuses a missing resource, and a list of a resource without children, with `-32602` and a `reason` that tells the two apart
 * (2093-4).
 * @param server not connected yet: a `Server`, or an `McpServer` whose own resources are registered already
 *
 * @example
 * serveResourceHierarchy(server, {
 *   list: (uri) => ({ resources: childrenOf(uri) }),
 *   metadata: (uri) => find(uri),
 * });
 */
export function serveResourceHierarchy(
  server: SdkServer | { readonly server: SdkServer },
  hierarchy: ResourceHierarchy,
): void {
  const target = 'server' in server ? server.server : server;
  target.registerCapabilities({ resources: {}, extensions: { [RESOURCE_HIERARCHY_EXTENSION]: {} } });

  async function found(uri: string, context: HierarchyContext): Promise<Resource> {
    const resource = await hierarchy.metadata(uri, context);
    if (resource === undefined) throw notFound(uri);
    return described(resource);
  }

  handle(target, 'resources/list', listParams, async ({ uri, cursor }, context) => {
    if (uri !== undefined && !(await found(uri, context)).capabilities?.list) throw notListable(uri);
    const page = await hierarchy.list(uri, cursor, context);
    return { ...page, resources: page.resources.map(described) };
  });

  handle(target, METADATA_METHOD, metadataParams, async ({ uri }, context) => ({
    resource: await found(uri, context),
  }));

  const read = hierarchy.read?.bind(hierarchy);
  if (read === undefined) return;
  handle(target, 'resources/read', metadataParams, async ({ uri }, context) => {
    const resource = await found(uri, context);
    const contents = await read(uri, context);
    // A size belongs to one format (2093-6).
    const { size: _, ...shared } = resource;
    return { contents: contents.map((item) => (item.uri === uri ? { ...shared, ...item } : described(item))) };
  });
}

/** Adds the name and both flags (2093-3), so that no client has to guess. */
function described<T extends HierarchyResource>(resource: T): T & Resource {
  const { uri, name = nameOfUri(uri) ?? uri, capabilities } = resource;
  return { ...resource, name, capabilities: { list: false, subscribe: false, ...capabilities } };
}

type Handler<Params> = (params: Params, context: HierarchyContext) => Promise<object>;

/** Registers a handler: v2 takes the name of the method and the schema of its parameters, v1 the schema of the request. */
function handle<Schema extends z.ZodType>(
  server: SdkServer,
  method: string,
  schema: Schema,
  handler: Handler<z.output<Schema>>,
): void {
  const answer = async (params: z.output<Schema>, extra: SdkExtra): Promise<object> => {
    const signal = extra.mcpReq?.signal ?? extra.signal ?? new AbortController().signal;
    try {
      return await handler(params, { signal, extra });
    } catch (error) {
      throw error instanceof ResourceError ? sendable(error) : error;
    }
  };
  const set = server.setRequestHandler.bind(server) as (...args: readonly unknown[]) => void;
  if (server.setRequestHandler.length >= 3) {
    set(method, { params: schema }, answer);
    return;
  }
  const request = z.looseObject({ method: z.literal(method), params: schema });
  set(request, ({ params }: { readonly params: z.output<Schema> }, extra: SdkExtra) => answer(params, extra));
}

/** The signal of a request, in v2 and in v1. */
interface SdkExtra {
  readonly mcpReq?: { readonly signal: AbortSignal };
  readonly signal?: AbortSignal;
}

/** Both versions send the code, message and data of a thrown error. */
function sendable(error: ResourceError): Error {
  const { message, ...rest } = toWireError(error);
  return Object.assign(new Error(message, { cause: error }), rest);
}
