/**
 * Searches mounts one after the other. A mount that is not listed is searched only below one of its URIs. A mount that is out of reach is
 * left out of a search of all, and the answer says so.
 */
import type { Context } from '../context.ts';
import type { ResourceError } from '../errors.ts';
import { isAway, leaveOut } from '../lists/across.ts';
import type { SearchMatch, SearchQuery } from '../provider.ts';
import { searchProvider } from '../search.ts';
import type { Mount } from './mount.ts';
import { publishUri } from './published-uris.ts';
import { publishError } from './renamed.ts';
import type { Resolved } from './resolver.ts';

export interface SearchedMounts {
  readonly mounts: readonly Mount[];
  /** @throws ResourceError `not-found` */
  readonly route: (published: string) => Resolved;
  /** Whether a published URI leads to the mount. */
  readonly isOf: (mount: Mount, published: string) => boolean;
  /** Makes the context of an operation within a mount. */
  readonly within: (mount: Mount, ctx: Context) => Context;
}

export async function* searchMounts(
  searched: SearchedMounts,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  const { route } = searched;
  if (query.uri !== undefined) {
    const { mount, native } = route(query.uri);
    yield* searchMount(searched, mount, { ...query, uri: native }, ctx);
    return;
  }
  const mounts = searched.mounts.filter(({ listed }) => listed !== false);
  for (const mount of mounts) {
    try {
      yield* searchMount(searched, mount, query, ctx);
    } catch (error) {
      if (mounts.length === 1 || ctx.signal.aborted || !isLeftOut(mount, error)) throw error;
      leaveOut(mount.name, error, ctx);
    }
  }
}

/** An invalid query is invalid everywhere, so its error is the answer. */
const isLeftOut = (mount: Mount, error: unknown): error is ResourceError =>
  isAway(error, mount.provider.features.remote === true) && error.code !== 'invalid';

async function* searchMount(
  { isOf, within }: SearchedMounts,
  mount: Mount,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  try {
    for await (const match of searchProvider(mount.provider, query, namingMount(mount, within(mount, ctx)))) {
      const uri = publishUri(mount, match.uri);
      if (isOf(mount, uri)) yield { ...match, uri };
    }
  } catch (error) {
    throw publishError(mount, error);
  }
}

/** Makes a context whose notes name the mount of a missing part. */
function namingMount(mount: Mount, ctx: Context): Context {
  const { notes } = ctx;
  if (notes === undefined) return ctx;
  return {
    ...ctx,
    notes: { ...notes, missing: (part) => notes.missing({ ...part, mount: part.mount ?? mount.name }) },
  };
}
