/** Lists the children of an address, a page at a time: entries of a tree, references, commits of a history. */
import type { Context } from '../../core/context.ts';
import { invalid, notListable, ResourceError } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Address, isRefName, parseUri, type Revision } from './address.ts';
import { aboveRevisions, type Found, find, findAddress, pathResource } from './describe.ts';
import type { Repository } from './find.ts';
import { listHistory, startOf } from './history.ts';

export async function list(repo: Repository, uri: string, page: Page, ctx: Context): Promise<ResourcePage> {
  const found = await find(repo, uri, ctx.signal).catch((error: unknown) => {
    if (page.cursor === undefined || !(error instanceof ResourceError && error.code === 'not-found')) throw error;
    return findBegun(repo, uri, page.cursor, error, ctx.signal);
  });
  return listFound(repo, found, page, ctx, uri);
}

/**
 * Finds the history of a path where its list began: the path may have been removed from the branch since.
 * @throws `missing` for any other list
 */
async function findBegun(
  repo: Repository,
  uri: string,
  cursor: string,
  missing: ResourceError,
  signal: AbortSignal,
): Promise<Found> {
  const { address } = parseUri(uri);
  const oid = startOf(cursor);
  if (address.kind !== 'log' || oid === undefined) throw missing;
  return findAddress(repo, { ...address, revision: { kind: 'commit', oid } }, uri, signal);
}

/** @throws ResourceError `not-listable`, `invalid` for a cursor of another list */
export async function listFound(
  repo: Repository,
  found: Found,
  page: Page,
  ctx: Context,
  uri: string,
): Promise<ResourcePage> {
  ctx.signal.throwIfAborted();
  const { address } = found;
  switch (address.kind) {
    case 'root':
      return listRoot(repo, page, ctx);
    case 'branches':
      return listRefs(repo, 'refs/heads/', (name) => ({ kind: 'branch', name }), page, ctx);
    case 'tags':
      return listRefs(repo, 'refs/tags/', (name) => ({ kind: 'tag', name }), page, ctx);
    case 'commits':
      return listHistory(repo, await repo.refs.head(ctx.signal), [], page, ctx, (revision) => ({
        kind: 'tree',
        revision,
        path: [],
      }));
    case 'log':
      return listHistory(repo, found.target?.commit?.oid, address.path, page, ctx, (revision) => ({
        kind: 'commit',
        revision,
      }));
    case 'tree':
    case 'blame':
      return listTree(repo, found, address, page, ctx, uri);
    case 'commit':
    case 'diff':
    case 'compare':
      throw notListable(uri);
  }
}

/** Lists the root, HEAD first. A walk over the whole tree gets HEAD only: the other entries repeat its files many times. */
async function listRoot(repo: Repository, page: Page, ctx: Context): Promise<ResourcePage> {
  const { shows, refs } = repo;
  const names = ['HEAD', 'branches', 'tags', 'commits'] as const;
  const from = page.cursor === undefined ? 0 : names.indexOf(page.cursor as 'HEAD') + 1;
  if (page.cursor !== undefined && from === 0) throw invalid('The cursor is not one of this provider');
  const resources: Resource[] = [];
  let last: string | undefined;
  for (const name of names.slice(from)) {
    if (name === 'HEAD' ? (await refs.head(ctx.signal)) === undefined : !shows[name] || page.containersOnly) continue;
    if (resources.length >= page.limit) return { resources, nextCursor: last };
    last = name;
    resources.push(
      name === 'HEAD'
        ? (await findAddress(repo, { kind: 'tree', revision: { kind: 'head' }, path: [] }, '', ctx.signal)).resource
        : aboveRevisions(repo, { kind: name }),
    );
  }
  return { resources };
}

async function listRefs(
  repo: Repository,
  prefix: string,
  revisionOf: (name: string) => Revision,
  page: Page,
  ctx: Context,
): Promise<ResourcePage> {
  const resources: Resource[] = [];
  let last: string | undefined;
  if (page.cursor !== undefined && !isRefName(page.cursor)) throw invalid('The cursor is not one of this provider');
  const cursor = page.cursor === undefined ? '' : page.cursor;
  for await (const { name } of repo.refs.below([prefix.slice(0, -1)], ctx.signal)) {
    const shortName = name.slice(prefix.length);
    if (shortName <= cursor || !isRefName(shortName)) continue;
    if (resources.length >= page.limit) return { resources, nextCursor: last };
    last = shortName;
    const address: Address = { kind: 'tree', revision: revisionOf(shortName), path: [] };
    const found = await orUndefined(findAddress(repo, address, '', ctx.signal), ctx);
    if (found !== undefined) resources.push(found.resource);
  }
  return { resources };
}

/** Returns undefined if the reference cannot be resolved: it was deleted meanwhile, or its object is missing. */
async function orUndefined(finding: Promise<Found>, ctx: Context): Promise<Found | undefined> {
  try {
    return await finding;
  } catch (error) {
    ctx.signal.throwIfAborted();
    ctx.log.debug('a reference is left out', { error });
    return undefined;
  }
}

async function listTree(
  repo: Repository,
  { target, entry }: Found,
  address: Extract<Address, { kind: 'tree' | 'blame' }>,
  page: Page,
  ctx: Context,
  uri: string,
): Promise<ResourcePage> {
  const { kind, revision, path } = address;
  if (target === undefined || entry?.kind !== 'tree') throw notListable(uri);
  const tree = await repo.trees.read(entry.oid, ctx.signal);
  const blamed = kind === 'blame';
  const chosen: { readonly name: string; readonly resource: Promise<Resource> }[] = [];
  let index = page.cursor === undefined ? 0 : tree.after(positionOf(page.cursor));
  for (; index < tree.length && chosen.length < page.limit; index++) {
    const child = tree.at(index);
    if (blamed && (child.kind === 'link' || child.kind === 'submodule')) continue;
    const place = { kind, revision, path: [...path, child.name] };
    const resource = pathResource(repo, place, target, child, ctx.signal);
    // Awaited below. A rejection before that must not count as unhandled.
    resource.catch(() => {});
    chosen.push({ name: child.name, resource });
  }
  const resources = await Promise.all(chosen.map(({ resource }) => resource));
  const last = index > 0 && index < tree.length ? tree.at(index - 1) : undefined;
  return { resources, nextCursor: last && `${last.kind === 'tree' ? 'd' : 'f'}${last.name}` };
}

function positionOf(cursor: string): { readonly name: string; readonly isTree: boolean } {
  const isTree = cursor.startsWith('d');
  if (!isTree && !cursor.startsWith('f')) throw invalid('The cursor is not one of this provider');
  return { name: cursor.slice(1), isTree };
}
