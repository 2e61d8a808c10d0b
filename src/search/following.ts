/** Watches on what an index has, as far as there are not too many; whatever is not watched is looked at again in time. */
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { NAMES, type Resource } from '../protocol/resources.ts';

/** The most watches of one index. */
export const MAX_FOLLOWED = 10_000;

export interface Following {
  /**
   * Watches it, if that can be done.
   * @param isLate it is looked at once more when the watch is in place: it may have changed since it was read, as a file does
   * that was seen before anything was written to it
   */
  found(resource: Resource, parent: string | undefined, isLate: boolean): void;
  lost(uri: string): void;
  /** Whether all that was found is watched. */
  readonly whole: boolean;
  /** Resolves when the watches that were begun are in place. */
  opened(): Promise<void>;
  close(): Promise<void>;
}

/** @param watchesInside whether a watch of this folder tells of what lies in it */
export function createFollowing(
  provider: Pick<ResourceProvider, 'watch'>,
  watchesInside: (uri: string) => boolean,
  changed: (uri: string) => void,
  ctx: Context,
): Following {
  const watches = new Map<string, Promise<AsyncDisposable | undefined>>();
  /** Folders whose watches tell of what lies in them. */
  const insides = new Set<string>();
  let whole = true;
  let opening: Promise<unknown> = Promise.resolve();

  async function watch(uri: string): Promise<AsyncDisposable | undefined> {
    if (ctx.signal.aborted || !watches.has(uri)) return undefined;
    const inside = insides.has(uri);
    try {
      return await provider.watch?.(uri, (event) => changed(event.kind === 'updated' ? event.uri : uri), {
        ...ctx,
        inside,
      });
    } catch (error) {
      if (!(error instanceof ResourceError) && !ctx.signal.aborted) throw error;
      whole = false;
      insides.delete(uri);
      return undefined;
    }
  }

  async function end(uri: string): Promise<void> {
    const handle = watches.get(uri);
    watches.delete(uri);
    insides.delete(uri);
    await (await handle)?.[Symbol.asyncDispose]();
  }

  return {
    found({ uri, capabilities, [NAMES]: names }, parent, isLate) {
      if (watches.has(uri)) return;
      const isFolder = capabilities?.list === true;
      // A link is changed in another folder, where it leads to.
      if (!isFolder && names?.leadsTo === undefined && parent !== undefined && insides.has(parent)) return;
      if (capabilities?.subscribe !== true || watches.size >= MAX_FOLLOWED) {
        whole = false;
        return;
      }
      if (isFolder && watchesInside(uri)) insides.add(uri);
      // One after the other: to open one takes several looks at the source.
      const handle = opening
        .then(() => watch(uri))
        .then((watched) => {
          if (isLate && watched !== undefined) changed(uri);
          return watched;
        });
      watches.set(uri, handle);
      opening = handle.catch((error: unknown) => ctx.log.warn('a change may be found late', { uri, error }));
    },
    lost: (uri) => void end(uri).catch(() => {}),
    get whole() {
      return whole;
    },
    opened: async () => void (await opening),
    async close() {
      await Promise.allSettled([...watches.keys()].map(end));
    },
  };
}
