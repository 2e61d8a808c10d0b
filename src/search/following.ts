/** Watches on what an index has, as far as there are not too many; whatever is not watched is looked at again in time. */
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { Resource } from '../protocol/resources.ts';

/** Watches of one index. */
export const MAX_FOLLOWED = 10_000;

export interface Following {
  /**
   * Watches it, if that can be done.
   * @param isLate it is looked at once more when the watch is in place: it may have changed since it was read, as a file does
   * that was seen before anything was written to it
   */
  found(resource: Resource, isLate: boolean): void;
  lost(uri: string): void;
  /** Whether all that was found is watched. */
  readonly whole: boolean;
  /** Resolves when the watches that were begun are in place. */
  opened(): Promise<void>;
  close(): Promise<void>;
}

export function createFollowing(
  provider: Pick<ResourceProvider, 'watch'>,
  changed: (uri: string) => void,
  ctx: Context,
): Following {
  const watches = new Map<string, Promise<AsyncDisposable | undefined>>();
  let whole = true;
  let opening: Promise<unknown> = Promise.resolve();

  async function watch(uri: string): Promise<AsyncDisposable | undefined> {
    if (ctx.signal.aborted || !watches.has(uri)) return undefined;
    try {
      return await provider.watch?.(uri, (event) => changed(event.kind === 'updated' ? event.uri : uri), ctx);
    } catch (error) {
      if (!(error instanceof ResourceError) && !ctx.signal.aborted) throw error;
      whole = false;
      return undefined;
    }
  }

  async function end(uri: string): Promise<void> {
    const handle = watches.get(uri);
    watches.delete(uri);
    await (await handle)?.[Symbol.asyncDispose]();
  }

  return {
    found({ uri, capabilities }, isLate) {
      if (watches.has(uri)) return;
      if (capabilities?.subscribe !== true || watches.size >= MAX_FOLLOWED) {
        whole = false;
        return;
      }
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
