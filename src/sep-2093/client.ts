/** The client's side: uses SEP-2093 if the server has it, and otherwise the nearest that the base protocol offers (2093-11). */
import type { Client } from '@modelcontextprotocol/client';
import type { CallOptions } from '../client/asking.ts';
import type { ResourceClient } from '../client/client.ts';
import type { ResourceMetadata } from '../client/described.ts';
import type { ListOptions, ListReport } from '../client/paging.ts';
import type { ListedResource } from '../client/shapes.ts';

/** The resource client of each SDK client. It remembers whether the server has the methods of SEP-2093. */
const resourceClients = new WeakMap<Client, ResourceClient>();

/** Imports the resource client only when it is needed, because servers import this subpath, too. */
async function resourcesOf(client: Client): Promise<ResourceClient> {
  const { createResourceClient } = await import('../client/index.ts');
  const resources = resourceClients.get(client) ?? createResourceClient(client);
  resourceClients.set(client, resources);
  return resources;
}

/**
 * The direct children of a resource; without `uri` the server's default list. Pages are asked for as they are needed. At its end
 * the generator returns a report: how the list was obtained, and which limit ended it.
 * @param client connected, of `@modelcontextprotocol/client`; it stays yours to close
 * @throws ResourceClientError `not-found`, `not-listable`
 */
export async function* listChildren(
  client: Client,
  uri?: string,
  options: ListOptions = {},
): AsyncGenerator<ListedResource, ListReport, undefined> {
  const listing = (await resourcesOf(client)).list(uri, options);
  yield* listing;
  return listing.report;
}

/**
 * Returns the metadata of a resource: from `resources/metadata`, or else from the server's list, or else from a read.
 * @param client connected, of `@modelcontextprotocol/client`; it stays yours to close
 * @throws ResourceClientError `not-found`
 */
export async function resourceMetadata(
  client: Client,
  uri: string,
  options: CallOptions = {},
): Promise<ResourceMetadata> {
  return (await resourcesOf(client)).metadata(uri, options);
}
