/** Changes of resources, and of the lists of resources, tools and prompts: who subscribes to the same shares a watch. */
import { type ChangeHub, type ChangeHubOptions, createChangeHub } from '../core/change-hub.ts';
import type { NamedOperations, Subscribed } from '../core/operations.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { TaskRegistry } from '../frontends/tasks/registry.ts';
import type { ToolRegistry } from '../frontends/tools/registry.ts';

export interface Changes extends Pick<NamedOperations, 'subscribe'> {
  /** Watches that are open now. */
  readonly size: number;
  /** Ends every watch; resolves when nothing is left running. */
  close(): Promise<void>;
}

type Registry = Pick<ToolRegistry, 'watch'>;

/** @param provider through whose layers resources are watched */
export function createChanges(
  provider: ResourceProvider,
  registries: { readonly tools: Registry; readonly prompts: Registry; readonly tasks: Pick<TaskRegistry, 'watch'> },
  options: ChangeHubOptions | undefined,
): Changes {
  // For clients that may be apart as they are in the tree.
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
      // A task has one client.
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
