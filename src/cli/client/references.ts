/** Resources as people type them: a URI, or what comes behind the server's root, as in `guide/welcome.md`. */
import { ancestorsOf, identityOf, insideOf, isListable, type ListedResource } from '../../client/shapes.ts';
import { UsageError } from '../errors.ts';
import { safe } from './printing/output.ts';
import type { Session } from './reaching/connect.ts';

/** The most resources of the default list that are looked at. */
export const MAX_LOOKED_AT = 10_000;

/** The resources at the top of the default list, the number of those below them, and why the list stopped early. */
export interface Top {
  readonly resources: readonly ListedResource[];
  /** Resources that are below others of the list, and so not in `resources`. */
  readonly below: number;
  readonly stopped: string | undefined;
}

/** The default list without what lies below something else in it. */
export async function topOf({ resources, signal }: Session, maxResources = MAX_LOOKED_AT): Promise<Top> {
  const listing = resources.list(undefined, { signal, maxResources });
  const all: ListedResource[] = [];
  for await (const resource of listing) all.push(resource);
  const containers = new Set(all.filter((each) => isListable(each) === true).map(({ uri }) => identityOf(uri)));
  const isTop = ({ uri }: ListedResource): boolean => {
    for (const ancestor of ancestorsOf(uri)) {
      const identity = identityOf(ancestor);
      if (identity !== identityOf(uri) && containers.has(identity)) return false;
    }
    return true;
  };
  const top = all.filter(isTop);
  const { stopped, truncatedBy } = listing.report;
  return { resources: top, below: all.length - top.length, stopped: stopped === 'end' ? truncatedBy : stopped };
}

const URI = /^[a-z][a-z0-9+.-]*:/i;

/**
 * The URIs of references, each a URI already or relative to the only root that the server has.
 * @throws UsageError where there is no one root
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
  /** Beginnings of URIs that all resources have, each with a slash at its end. */
  readonly roots: readonly string[];
  readonly named: ReadonlyMap<string, readonly string[]>;
}

async function baseOf(session: Session): Promise<Base> {
  const { resources } = await topOf(session);
  const containers = resources.filter((each) => isListable(each) === true);
  const only = containers.length === 1 && resources.length === 1 ? containers[0] : undefined;
  const roots = only === undefined ? resources.map(({ uri }) => rootOf(uri)) : [insideOf(only.uri)];
  const named = new Map<string, string[]>();
  for (const { uri, name } of resources) named.set(name, [...(named.get(name) ?? []), uri]);
  return { roots: [...new Set(roots)], named };
}

/** `scheme://authority/`. */
const rootOf = (uri: string): string => /^[^:]*:\/\/[^/]*/.exec(uri)?.[0].concat('/') ?? uri.replace(/:.*$/s, ':');

function resolved(reference: string, { roots, named }: Base): string {
  const byName = named.get(reference) ?? [];
  const [root, ...others] = roots;
  if (byName.length === 1 && byName[0] !== undefined) return byName[0];
  if (root === undefined || others.length > 0) {
    const which =
      root === undefined
        ? 'this server lists nothing that it could be part of'
        : `this server has several roots: ${roots.slice(0, 5).map(safe).join(', ')}${roots.length > 5 ? ', ...' : ''}`;
    throw new UsageError(`"${safe(reference)}" is no URI, and ${which}; give the whole URI`);
  }
  const path = reference.replace(/^(?:\.?\/)+/, '').replace(/^\.$/, '');
  return root + path.split('/').map(segment).join('/');
}

/** As it stands in a URI; what is escaped already stays as it is. */
const segment = (text: string): string =>
  /%[0-9a-f]{2}/i.test(text)
    ? text
    : encodeURIComponent(text).replace(/%(?:21|24|26|27|28|29|2A|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
