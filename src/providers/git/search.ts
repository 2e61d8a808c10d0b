/**
 * Searches a tree. `git grep` finds the files with a plain text in them. The positions, and matches of expressions, are
 * found by reading in linear time (`core/search.ts`), because git's own expressions may take exponential time.
 */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { globFilter } from '../../core/glob/filter.ts';
import type { ResourceProvider, SearchMatch, SearchQuery } from '../../core/provider.ts';
import { searchProvider } from '../../core/search.ts';
import { uriOf } from './address.ts';
import { recordsOf, runGit } from './command.ts';
import { type Found, find } from './describe.ts';
import type { Repository } from './find.ts';
import { segmentOf } from './names.ts';

/** Without a place, searches the tree of HEAD: other revisions mostly repeat the same texts. */
export async function* search(
  repo: Repository,
  provider: ResourceProvider,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  const { search: _search, ...reading } = provider;
  const start = await startOf(repo, query.uri, ctx);
  if (start === undefined) return;
  const { pattern, literal } = query;
  const { address, entry, resource } = start;
  if (address.kind !== 'tree' || entry?.kind !== 'tree' || pattern === undefined || !literal) {
    yield* searchProvider(reading, { ...query, uri: resource.uri }, ctx);
    return;
  }
  const included = globFilter(query.glob);
  const args = ['grep', '-l', '-z', '-a', '--full-name', '--no-textconv', '-F', '-e', pattern, entry.oid, '--'];
  // It exits with 1 when it finds nothing.
  const found = runGit(repo.git, args, { signal: ctx.signal, accepts: [0, 1] });
  for await (const record of recordsOf(found, '\0')) {
    const path = record.slice(record.indexOf(':') + 1).split('/');
    const below = path.map(segmentOf).join('/');
    if (!included(below)) continue;
    const uri = uriOf({ ...address, path: [...address.path, ...path] });
    for await (const match of searchProvider(reading, { pattern, literal, uri }, ctx)) yield { ...match, path: below };
  }
}

async function startOf(repo: Repository, uri: string | undefined, ctx: Context): Promise<Found | undefined> {
  const root = uri === undefined ? undefined : await find(repo, uri, ctx.signal);
  if (root !== undefined && root.address.kind !== 'root') return root;
  try {
    return await find(repo, uriOf({ kind: 'tree', revision: { kind: 'head' }, path: [] }), ctx.signal);
  } catch (error) {
    // The repository has no commits yet.
    if (error instanceof ResourceError && error.code === 'not-found') return undefined;
    throw error;
  }
}
