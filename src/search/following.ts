/** Watches the resources of an index, up to `MAX_FOLLOWED`. A later look at everything finds the changes of all others. */
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { NAMES, type Resource } from '../protocol/resources.ts';

/** The most watches of one index. */
export const MAX_FOLLOWED = 10_000;

export interface Following {
  /** Begins a round, in which everything is found again. Watches that could not be opened are tried once more. */
  begin(): void;
  /**
   * Watches a resource or folder, if that can be done.
   * @param isLate whether to look at the resource again when the watch is in place. It may have changed after it was read, such
   * as a file that was read while it was still empty
   */
  found(resource: Resource, parent: string | undefined, isLate: boolean): void;
  lost(uri: string): void;
  /** Is called when a folder could not be listed whole. */
  missed(): void;
  /** Whether all that was found in this round is watched. */
  readonly whole: boolean;
  /** Resolves when all watches that were begun are in place. */
  opened(): Promise<void>;
  close(): Promise<void>;
}

/** @param watchesInside whether a watch of this folder also reports changes of the resources in it */
export function createFollowing(
  provider: Pick<ResourceProvider, 'watch'>,
  watchesInside: (uri: string) => boolean,
  changed: (uri: string) => void,
  ctx: Context,
): Following {
  const watches = new Map<string, Promise<AsyncDisposable | undefined>>();
  /** Folders whose watches also report changes of the resources in them. */
  const insides = new Set<string>();
  /** Those of `watches` that could not be opened. */
  const failed = new Set<string>();
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
      if (watches.has(uri)) failed.add(uri);
      return undefined;
    }
  }

  async function end(uri: string): Promise<void> {
    const handle = watches.get(uri);
    watches.delete(uri);
    insides.delete(uri);
    failed.delete(uri);
    await (await handle)?.[Symbol.asyncDispose]();
  }

  return {
    begin() {
      whole = true;
      for (const uri of failed) watches.delete(uri);
      failed.clear();
    },
    missed() {
      whole = false;
    },
    found({ uri, capabilities, [NAMES]: names }, parent, isLate) {
      if (watches.has(uri)) return;
      const isFolder = capabilities?.list === true;
      // A link leads to another folder, whose changes the watch of this folder does not report.
      if (!isFolder && names?.leadsTo === undefined && parent !== undefined && insides.has(parent)) return;
      if (capabilities?.subscribe !== true || watches.size >= MAX_FOLLOWED) {
        whole = false;
        return;
      }
      if (isFolder && watchesInside(uri)) insides.add(uri);
      // Watches are opened one after the other, because each one reads from the source several times.
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
