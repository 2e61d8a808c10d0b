/** Subscribes to changes of resources, tasks, and the lists of resources, tools and prompts. Equal subscriptions share a watch. */
import { type ChangeHub, type ChangeHubOptions, createChangeHub } from '../core/change-hub.ts';
import type { NamedOperations, Subscribed } from '../core/operations.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { TaskRegistry } from '../frontends/tasks/registry.ts';
import type { ToolRegistry } from '../frontends/tools/registry.ts';

export interface Changes extends Pick<NamedOperations, 'subscribe'> {
  /** The number of open watches. */
  readonly size: number;
  /** Ends every watch. Resolves when all have ended. */
  close(): Promise<void>;
}

type Registry = Pick<ToolRegistry, 'watch'>;

/** @param provider watches resources, through all layers */
export function createChanges(
  provider: ResourceProvider,
  registries: { readonly tools: Registry; readonly prompts: Registry; readonly tasks: Pick<TaskRegistry, 'watch'> },
  options: ChangeHubOptions | undefined,
): Changes {
  // The features of the provider decide whether clients share a watch of a list.
  const ofList = (name: 'tools' | 'prompts'): ChangeHub =>
    createChangeHub(
      {
        name,
        get features() {
          return provider.features;
        },
        watch: (_uri, onChange, ctx) => registries[name].watch(() => onChange({ kind: 'list-changed' }), ctx),
      },
      options,
    );
  const hubs: Readonly<Record<Extract<Subscribed, { readonly list: string }>['list'], ChangeHub>> = {
    resources: createChangeHub(provider, options),
    tools: ofList('tools'),
    prompts: ofList('prompts'),
  };
  const all = Object.values(hubs);
  return {
    subscribe(to, onChange, ctx) {
      if ('uri' in to) return hubs.resources.subscribe(to.uri, onChange, ctx);
      // Only one client watches a task, so there is nothing to share.
      if ('task' in to) return registries.tasks.watch(to.task, onChange, ctx);
      return hubs[to.list].subscribe(undefined, onChange, ctx);
    },
    get size() {
      return all.reduce((sum, { size }) => sum + size, 0);
    },
    async close() {
      await Promise.all(all.map((hub) => hub.close()));
    },
  };
}
