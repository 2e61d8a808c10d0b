/** The client's side: SEP-2093 where the server has it, and what comes nearest where it has not (2093-11). */
import type { Client } from '@modelcontextprotocol/client';
import type { CallOptions } from '../client/asking.ts';
import type { ResourceClient } from '../client/client.ts';
import type { ResourceMetadata } from '../client/described.ts';
import type { ListOptions, ListReport } from '../client/paging.ts';
import type { ListedResource } from '../client/shapes.ts';

/** The resource client of each client, which knows whether the server has the methods. */
const known = new WeakMap<Client, ResourceClient>();

/** Loaded when it is first needed: servers import this subpath, too. */
async function resourcesOf(client: Client): Promise<ResourceClient> {
  const { createResourceClient } = await import('../client/index.ts');
  const resources = known.get(client) ?? createResourceClient(client);
  known.set(client, resources);
  return resources;
}

/**
 * The direct children of a resource, a page at a time; without `uri` the server's default list. Returns, when it is done, the
 * report of `vitrine/client`: how the list was had, and which limit ended it.
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
 * Returns what the server says of a resource: by `resources/metadata`, else by its list, else by a read.
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
