/** Searches the outer provider, and then each container in it. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { anyCase } from '../../core/glob/any-case.ts';
import { globFilter } from '../../core/glob/filter.ts';
import type { SearchMatch, SearchQuery } from '../../core/provider.ts';
import { searchProvider } from '../../core/search.ts';
import { parseTreeUri } from '../../core/uri.ts';
import { type Container, isBesideFolders, isFolder, isShownIn, kindOfName, outwards } from './container.ts';
import type { Inner, NestedKind, Outer } from './kind.ts';

/** The most containers that one search opens. */
const MAX_CONTAINERS = 100;

export interface Searched {
  readonly outer: Outer;
  readonly kinds: readonly NestedKind[];
  readonly find: (uri: string) => Promise<Container | undefined>;
  readonly inside: <T>(
    container: Container,
    requested: string,
    ctx: Context,
    run: (inner: Inner, native: string, ctx: Context) => Promise<T>,
  ) => Promise<T>;
}

export async function* searchNested(nested: Searched, query: SearchQuery, ctx: Context): AsyncIterable<SearchMatch> {
  const { outer, kinds, find } = nested;
  const container = query.uri === undefined ? undefined : await find(query.uri);
  if (container !== undefined && (container.rest !== '' || isFolder(container))) {
    yield* searchContainer(nested, container, query, '', ctx);
    return;
  }
  for await (const match of searchProvider(outer.provider, query, ctx))
    if (await isBesideFolders(outer, kinds, match.uri)) yield match;
  if (container !== undefined) {
    yield* searchContainer(nested, container, query, '', ctx);
    return;
  }
  const fileKinds = kinds.filter(({ isFolder }) => isFolder !== true);
  if (fileKinds.length === 0) return;
  const endings = fileKinds.flatMap((kind) => kind.endings.map(anyCase));
  const glob = endings.length === 1 ? `*${endings[0]}` : `*{${endings.join(',')}}`;
  const names = searchProvider(outer.provider, { glob, literal: false, uri: query.uri }, ctx);
  const start = query.uri === undefined ? 0 : parseTreeUri(query.uri, outer.scheme).segments.length;
  let entered = 0;
  for await (const { uri } of names) {
    const { segments } = parseTreeUri(uri, outer.scheme);
    if (kindOfName(fileKinds, segments.at(-1)) === undefined) continue;
    const found = await find(uri);
    if (found === undefined || isFolder(found)) continue;
    if (++entered > MAX_CONTAINERS) {
      ctx.log.warn('left out of a search: archives and databases after the first', { searched: MAX_CONTAINERS });
      ctx.notes?.missing({ reason: `Only the first ${MAX_CONTAINERS} archives and databases are searched` });
      return;
    }
    yield* searchContainer(nested, found, query, `${segments.slice(start).join('/')}/`, ctx);
  }
}

/** @param prefix the path from the start of the search to the container: globs are applied to the whole path */
async function* searchContainer(
  { inside, outer }: Searched,
  container: Container,
  query: SearchQuery,
  prefix: string,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  const included = globFilter(query.glob);
  const found: SearchMatch[] = [];
  try {
    await inside(container, container.uri, ctx, async (inner, native, innerCtx) => {
      const rename = outwards(container, inner.scheme);
      // The glob is applied below, to the path from the start of the search.
      const innerQuery = { ...query, uri: native, glob: query.pattern === undefined ? '**' : undefined };
      for await (const match of searchProvider(inner.provider, innerQuery, innerCtx)) {
        const path = prefix + (match.path ?? match.uri.slice(native.length).replace(/^\//, ''));
        const uri = rename(match.uri);
        if (!included(path) || !(await isShownIn(outer, container, { uri }))) continue;
        found.push({ ...match, uri, path });
        if (found.length < MAX_MATCHES) continue;
        ctx.notes?.missing({ reason: `Only the first ${MAX_MATCHES} matches in an archive or database are given` });
        return;
      }
    });
  } catch (error) {
    if (!(error instanceof ResourceError) || error.code === 'timeout' || ctx.signal.aborted) throw error;
    ctx.log.debug('left out of a search: a container that cannot be opened', { uri: container.uri, error });
    if (error.code !== 'not-found') ctx.notes?.missing({ reason: 'An archive or database cannot be opened' });
  }
  yield* found;
}

/** The most matches in one container. */
const MAX_MATCHES = 10_000;
