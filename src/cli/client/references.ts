/** Finds the URIs of resources that people name by a whole URI, a name, or a path below the root such as `guide/welcome.md`. */
import type { ListReport } from '../../client/paging.ts';
import { ancestorsOf, identityOf, insideOf, isListable, type ListedResource } from '../../client/shapes.ts';
import { UsageError } from '../errors.ts';
import { safe } from './printing/output.ts';
import type { Session } from './reaching/connect.ts';

/** The most resources of the default list that are read. */
export const MAX_LOOKED_AT = 10_000;

/** The top of the default list. */
export interface Top {
  /** The listed resources that are not below a listed container. */
  readonly resources: readonly ListedResource[];
  /** The number of all other listed resources. */
  readonly below: number;
  /** Why the list stopped; undefined if its reader stopped early. */
  readonly stopped: ListReport['stopped'];
  /** The limit of the server that cut the top short; undefined if the top is complete. */
  readonly truncatedBy: string | undefined;
}

/** Reads the default list, and leaves out resources that are below a container in it. */
export async function topOf({ resources, signal }: Session, maxResources = MAX_LOOKED_AT): Promise<Top> {
  const listing = resources.list(undefined, { signal, maxResources });
  const all: ListedResource[] = [];
  for await (const resource of listing) all.push(resource);
  const containers = new Set(all.filter((one) => isListable(one) === true).map(({ uri }) => identityOf(uri)));
  const isTop = ({ uri }: ListedResource): boolean => {
    for (const ancestor of ancestorsOf(uri)) {
      const identity = identityOf(ancestor);
      if (identity !== identityOf(uri) && containers.has(identity)) return false;
    }
    return true;
  };
  const top = all.filter(isTop);
  const { stopped, truncatedBy } = listing.report;
  const below = all.length - top.length;
  // A truncated default list goes level by level: once it is below the top, the top is complete.
  return { resources: top, below, stopped, truncatedBy: below > 0 ? undefined : truncatedBy };
}

const URI = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Returns the URIs of references. A reference is a URI, the name of a resource at the top, or a path below the only root.
 * @throws UsageError for a path if the server has several roots, or none
 */
export async function urisOf(references: readonly string[], session: Session): Promise<readonly string[]> {
  let base: Promise<Base> | undefined;
  return Promise.all(
    references.map(async (reference) => {
      if (URI.test(reference)) return reference;
      base ??= baseOf(session);
      return resolved(reference, await base);
    }),
  );
}

interface Base {
  /** The beginnings of all URIs, each up to a slash or, without an authority, up to the colon of the scheme. */
  readonly roots: readonly string[];
  /** The URIs of the resources at the top, by name. */
  readonly named: ReadonlyMap<string, readonly string[]>;
}

async function baseOf(session: Session): Promise<Base> {
  const { resources } = await topOf(session);
  const containers = resources.filter((one) => isListable(one) === true);
  const only = containers.length === 1 && resources.length === 1 ? containers[0] : undefined;
  const roots = only === undefined ? resources.map(({ uri }) => rootOf(uri)) : [insideOf(only.uri)];
  const named = new Map<string, string[]>();
  for (const { uri, name } of resources) named.set(name, [...(named.get(name) ?? []), uri]);
  return { roots: [...new Set(roots)], named };
}

/** Returns the beginning of a URI: `scheme://authority/`, or `scheme:` if it has no authority. */
const rootOf = (uri: string): string => /^[^:]*:\/\/[^/]*/.exec(uri)?.[0].concat('/') ?? uri.replace(/:.*$/s, ':');

function resolved(reference: string, { roots, named }: Base): string {
  const byName = named.get(reference) ?? [];
  const [root, ...others] = roots;
  if (byName.length === 1 && byName[0] !== undefined) return byName[0];
  if (root === undefined || others.length > 0) {
    const why =
      root === undefined
        ? 'this server lists no root that it could be below'
        : `this server has several roots: ${roots.slice(0, 5).map(safe).join(', ')}${roots.length > 5 ? ', ...' : ''}`;
    throw new UsageError(`"${safe(reference)}" is no URI, and ${why}; give the whole URI`);
  }
  const path = reference.replace(/^(?:\.?\/)+/, '').replace(/^\.$/, '');
  return root + path.split('/').map(segment).join('/');
}

/** Escapes a segment of a path for a URI. A segment with an escape in it stays as it is. */
const segment = (text: string): string =>
  /%[0-9a-f]{2}/i.test(text)
    ? text
    : encodeURIComponent(text).replace(/%(?:21|24|26|27|28|29|2A|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
