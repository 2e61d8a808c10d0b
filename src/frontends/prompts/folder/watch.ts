/** Watches a folder of prompts: new, deleted and edited files. */
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { listPromptFiles } from './list.ts';

/** Calls `onChange` after every change, from the moment the promise resolves until the handle is disposed of. */
export async function watchPromptFiles(
  provider: ResourceProvider,
  uri: string,
  onChange: () => void,
  ctx: Context,
): Promise<AsyncDisposable> {
  const watches = new Map<string, AsyncDisposable>();
  let ended = false;
  let waiting = false;
  let work: Promise<void> = Promise.resolve();

  /** Watches every file. Returns whether there were new files, which may have been edited before their watch began. */
  async function follow(): Promise<boolean> {
    waiting = false;
    const present = new Set((await filesThere(provider, uri, ctx)).map((file) => file.uri));
    const gone = [...watches].filter(([file]) => !present.has(file));
    for (const [file] of gone) watches.delete(file);
    await Promise.all(gone.map(([, handle]) => handle[Symbol.asyncDispose]()));
    const added = [...present].filter((file) => !watches.has(file));
    for (const file of added) {
      if (ended) break;
      const handle = await provider.watch?.(file, notify, ctx);
      if (handle !== undefined) watches.set(file, handle);
    }
    return added.length > 0;
  }

  const notify = (): void => {
    if (!ended) onChange();
  };
  const refollow = (): void => {
    notify();
    if (waiting || ended) return;
    waiting = true;
    work = work
      .then(async () => {
        if (!ended && (await follow())) notify();
      })
      .catch((error: unknown) => ctx.log.warn('a change of a prompt may go unnoticed', { uri, error }));
  };

  const folder = await provider.watch?.(uri, refollow, ctx);
  const dispose = async (): Promise<void> => {
    ended = true;
    await work;
    await Promise.all([folder, ...watches.values()].map((handle) => handle?.[Symbol.asyncDispose]()));
    watches.clear();
  };
  const first = work.then(follow);
  work = first.then(
    () => {},
    () => {},
  );
  try {
    await first;
  } catch (error) {
    await dispose();
    throw error;
  }
  return { [Symbol.asyncDispose]: dispose };
}

/** A folder that does not exist yet has no files. */
async function filesThere(provider: ResourceProvider, uri: string, ctx: Context): ReturnType<typeof listPromptFiles> {
  try {
    return await listPromptFiles(provider, uri, ctx);
  } catch (error) {
    if (error instanceof ResourceError && (error.code === 'not-found' || error.code === 'not-listable')) return [];
    throw error;
  }
}
