/** Changes of one resource, and of the listed set, out of events on directories (RES-4). */

import type { Context } from '../../core/context.ts';
import { notFound, ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { parseTreeUri } from '../../core/uri.ts';
import type { DirectoryEvent, DirectoryWatches } from './directory-watches.ts';
import { type Folder, findSegments, SCHEME } from './folder.ts';

type OnChange = (event: ChangeEvent) => void;

/**
 * Watches one URI: a file for its content, its coming and going, also through editors that replace it; a directory for
 * its set of children. What does not exist yet, but could be shown, may be watched.
 */
export async function watchResource(
  folder: Folder,
  directories: DirectoryWatches,
  uri: string,
  onChange: OnChange,
  ctx: Context,
): Promise<AsyncDisposable> {
  const { segments } = parseTreeUri(uri, SCHEME);
  if (!(await folder.visibility.shows(segments, false)) && !(await folder.visibility.shows(segments, true)))
    throw notFound(uri);
  const stack = new AsyncDisposableStack_();
  const changed = (): void => onChange({ kind: 'updated', uri });
  const own = segments.at(-1);

  /** Watches the inside, once the name is a directory, and the place that a link leads to. */
  let inner: { key: string; handle: AsyncDisposable } | undefined;
  let following = Promise.resolve();
  async function follow(): Promise<void> {
    const target = await whereItLies(folder, segments, uri);
    const key = target === undefined ? '' : `${target.isDirectory}:${target.segments.join('/')}`;
    if (stack.ended || inner?.key === key) return;
    await inner?.handle[Symbol.asyncDispose]();
    inner = undefined;
    if (target === undefined) return;
    const name = target.segments.at(-1);
    const direct = target.segments.join('/') === segments.join('/');
    if (target.isDirectory) {
      const handle = await directories.watch(target.segments, (event) => event.structural && changed());
      inner = { key, handle };
    } else if (!direct && name !== undefined) {
      const handle = await directories.watch(
        target.segments.slice(0, -1),
        (event) => concerns(event, name) && changed(),
      );
      inner = { key, handle };
    }
  }
  const refollow = (): void => {
    following = following
      .then(follow)
      .catch((error: unknown) => ctx.log.warn('a change may go unnoticed', { uri, error }));
  };

  try {
    if (own !== undefined) {
      stack.use(
        await directories.watch(segments.slice(0, -1), (event) => {
          if (!concerns(event, own)) return;
          if (event.structural) refollow();
          changed();
        }),
      );
    }
    await follow();
  } catch (error) {
    await stack.dispose();
    throw error;
  }
  return {
    async [Symbol.asyncDispose]() {
      await stack.dispose();
      await following;
      await inner?.handle[Symbol.asyncDispose]();
    },
  };
}

const concerns = (event: DirectoryEvent, name: string): boolean => event.name === undefined || event.name === name;

async function whereItLies(
  folder: Folder,
  segments: readonly string[],
  uri: string,
): Promise<{ segments: readonly string[]; isDirectory: boolean } | undefined> {
  try {
    await using found = await findSegments(folder, segments, 'metadata', uri);
    return { segments: found.opened.segments, isDirectory: found.isDirectory };
  } catch (error) {
    if (error instanceof ResourceError) return undefined;
    throw error;
  }
}

/** Handles that end together. (`AsyncDisposableStack` itself is not in every Node that is served.) */
class AsyncDisposableStack_ {
  readonly #handles: AsyncDisposable[] = [];
  ended = false;

  use(handle: AsyncDisposable): void {
    this.#handles.push(handle);
  }

  async dispose(): Promise<void> {
    this.ended = true;
    await Promise.all(this.#handles.splice(0).map((handle) => handle[Symbol.asyncDispose]()));
  }
}
