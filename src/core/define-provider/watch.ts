/** Shares one source of changes among all watches. It is opened with the first watch and ended with the last. */
import type { ChangeEvent } from '../provider.ts';
import type { ProviderDefinition } from './definition.ts';

export interface Watching {
  /** @param uri the URI of a resource; undefined for the list of all */
  add(uri: string | undefined, onChange: (event: ChangeEvent) => void): Promise<AsyncDisposable>;
  close(): Promise<void>;
}

interface Watcher {
  readonly uri: string | undefined;
  readonly onChange: (event: ChangeEvent) => void;
}

type Open = NonNullable<ProviderDefinition['watch']>;

export function createWatching(open: Open): Watching {
  const watchers = new Set<Watcher>();
  let source: Promise<() => unknown> | undefined;

  const report = (uri?: string): void => {
    for (const watcher of [...watchers]) {
      if (watcher.uri !== uri) continue;
      watcher.onChange(uri === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri });
    }
  };

  async function remove(watcher: Watcher): Promise<void> {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    const ending = source;
    source = undefined;
    const end = await ending?.catch(() => undefined);
    await end?.();
  }

  return {
    async add(uri, onChange) {
      const watcher: Watcher = { uri, onChange };
      watchers.add(watcher);
      source ??= (async () => open(report))();
      try {
        await source;
      } catch (error) {
        await remove(watcher);
        throw error;
      }
      return { [Symbol.asyncDispose]: () => remove(watcher) };
    },
    async close() {
      await Promise.all([...watchers].map(remove));
    },
  };
}
