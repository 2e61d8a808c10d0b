/**
 * Replaces mounts while clients use them. The objects that layers, hubs and wires hold are made once and stay; each call on them
 * goes to the present mounts. When the mounts change, everything that depends on them is made anew and replaced at once.
 */
import { withAgain } from '../core/again.ts';
import type { Mount } from '../core/mounts/mount.ts';
import type { PublishedServer } from '../core/mounts/published-server.ts';
import { createResolver, type Resolver } from '../core/mounts/resolver.ts';
import { mountTree } from '../core/mounts.ts';
import type { PromptFolder, PromptSource } from '../core/prompt.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { PromptRegistry } from '../frontends/prompts/registry.ts';
import type { ResourceTools } from '../frontends/resource-tools/index.ts';
import type { SkillRegistry } from '../frontends/skills/registry.ts';
import type { TaskRegistry } from '../frontends/tasks/registry.ts';
import type { ToolRegistry } from '../frontends/tools/registry.ts';
import { createLastingWatches, type LastingWatches } from './lasting-watches.ts';
import type { OneWatcher } from './one-watcher/index.ts';

/** How long requests may still run in mounts that were removed, in milliseconds. */
const RETIRED_MS = 5_000;

export interface ServedMounts {
  readonly mounts: readonly Mount[];
  /** Folders of Markdown files that are served as prompts. */
  readonly promptFolders?: readonly PromptFolder[] | undefined;
}

/** The parts of the mounts that clients address by name. */
export interface NamedParts {
  readonly servers: readonly PublishedServer[];
  readonly own: ResourceTools | undefined;
  readonly folders: readonly PromptSource[];
  readonly tools: ToolRegistry;
  readonly prompts: PromptRegistry;
  readonly tasks: TaskRegistry;
  readonly skills: SkillRegistry;
}

interface Tree {
  /** The mounts as given, without the mount of Vitrine's own state. */
  readonly mounts: readonly Mount[];
  readonly resolver: Resolver;
  readonly provider: ResourceProvider;
}

export interface LiveMounts {
  readonly mounts: readonly Mount[];
  readonly parts: NamedParts;
  readonly resolver: Resolver;
  readonly tree: ResourceProvider;
  readonly tools: ToolRegistry;
  readonly prompts: PromptRegistry;
  readonly tasks: TaskRegistry;
  readonly skills: SkillRegistry;
  /** Serves the first mounts. @throws ResourceError `invalid` when they are ambiguous */
  begin(first: ServedMounts): void;
  /**
   * Serves other mounts from now on, and soon closes the former ones that are not among them. A mount whose provider is
   * the same object stays open.
   * @throws ResourceError `invalid` when the new mounts are ambiguous; then nothing changes
   */
  replace(next: ServedMounts): Promise<void>;
}

export interface LiveOptions {
  /** Whether the mounts may be replaced later, so that every list may change. */
  readonly replaceable: boolean;
  /** Watches sources together with other replicas. */
  readonly oneWatcher: OneWatcher;
  readonly withState: (mounts: readonly Mount[]) => readonly Mount[];
  /** Makes the parts that clients address by name. The tree has these mounts already when it is called. */
  readonly partsOf: (served: ServedMounts, resolver: Resolver) => NamedParts;
}

export function createLiveMounts({ replaceable, oneWatcher, withState, partsOf }: LiveOptions): LiveMounts {
  let current: Tree | undefined;
  let named: NamedParts | undefined;
  const watches = createLastingWatches();
  const retired = createRetired();
  const tree = (): Tree => begun(current);
  const parts = (): NamedParts => begun(named);

  function put(next: ServedMounts): void {
    const before = current;
    try {
      const shared = next.mounts.map(oneWatcher.share);
      const mounts = withState(shared);
      const resolver = createResolver(mounts);
      current = { mounts: next.mounts, resolver, provider: mountTree(mounts, resolver, replaceable) };
      named = partsOf({ ...next, mounts: shared }, resolver);
    } catch (error) {
      current = before;
      for (const mount of next.mounts) if (before?.mounts.includes(mount) !== true) void oneWatcher.end(mount);
      throw error;
    }
  }

  return {
    get mounts() {
      return tree().mounts;
    },
    get parts() {
      return parts();
    },
    resolver: {
      get mounts() {
        return tree().resolver.mounts;
      },
      resolve: (published) => tree().resolver.resolve(published),
      mountOf: (published) => tree().resolver.mountOf(published),
    },
    tree: treeFace(tree, watches, retired),
    tools: toolsFace(() => parts().tools, watches, replaceable),
    prompts: promptsFace(() => parts().prompts, watches, replaceable),
    tasks: {
      mounts: (era) => parts().tasks.mounts(era),
      askTask: (...asked) => parts().tasks.askTask(...asked),
      watch: (...asked) => parts().tasks.watch(...asked),
    },
    skills: {
      get some() {
        return parts().skills.some;
      },
      get directories() {
        return parts().skills.directories;
      },
      listSkills: (...asked) => parts().skills.listSkills(...asked),
      getSkill: (...asked) => parts().skills.getSkill(...asked),
    },
    begin: put,
    async replace(next) {
      const before = { ...tree(), ...parts() };
      put(next);
      await watches.renew();
      const kept = new Set(next.mounts.map(({ provider }) => provider));
      const gone = before.mounts.filter(({ provider }) => !kept.has(provider));
      retired.add(async () => {
        await Promise.allSettled(before.mounts.filter((mount) => !next.mounts.includes(mount)).map(oneWatcher.end));
        await Promise.allSettled([
          before.own?.close(),
          ...before.folders.map(async (folder) => folder.close?.()),
          ...gone.map(async ({ provider }) => provider.close?.()),
        ]);
      });
    },
  };
}

interface Retired {
  /** @param end called once, after the time for requests that still run */
  add(end: () => Promise<void>): void;
  /** Calls every `end` that has not been called yet. Resolves when all have ended. */
  close(): Promise<void>;
}

function createRetired(): Retired {
  const waiting = new Map<() => Promise<void>, NodeJS.Timeout>();
  const ending = new Set<Promise<void>>();
  function endNow(end: () => Promise<void>): void {
    clearTimeout(waiting.get(end));
    if (!waiting.delete(end)) return;
    const ended = end().finally(() => ending.delete(ended));
    ending.add(ended);
  }
  return {
    add: (end) => void waiting.set(end, setTimeout(endNow, RETIRED_MS, end).unref()),
    async close() {
      for (const end of [...waiting.keys()]) endNow(end);
      await Promise.all(ending);
    },
  };
}

function begun<T>(part: T | undefined): T {
  if (part === undefined) throw new TypeError('Call begin() before using the mounts');
  return part;
}

function treeFace(now: () => Tree, watches: LastingWatches, retired: Retired): ResourceProvider {
  const provider = (): ResourceProvider => now().provider;
  const face: ResourceProvider = {
    name: 'mounts',
    get features() {
      return provider().features;
    },
    list: (...asked) => provider().list(...asked),
    metadata: (...asked) => provider().metadata(...asked),
    read: (...asked) => provider().read(...asked),
    listTemplates: async (...asked) => (await provider().listTemplates?.(...asked)) ?? { resourceTemplates: [] },
    complete: async (...asked) => (await provider().complete?.(...asked)) ?? { values: [], hasMore: false },
    isListed: async (...asked) => (await provider().isListed?.(...asked)) === true,
    search: (...asked) => provider().search?.(...asked) ?? none(),
    watch(uri, onChange, ctx) {
      const open = async (): Promise<AsyncDisposable> => {
        const { watch } = provider();
        if (watch === undefined) throw new TypeError('The tree of mounts can be watched');
        return watch(uri, onChange, ctx);
      };
      if (uri === undefined)
        return watches.add({ open, replaced: () => onChange({ kind: 'list-changed' }), log: ctx.log });
      return watches.add({
        open,
        replaced: () => onChange({ kind: 'updated', uri }),
        on: () => now().resolver.resolve(uri)?.mount,
        log: ctx.log,
      });
    },
    async close() {
      await Promise.all([retired.close(), provider().close?.()]);
    },
  };
  return withAgain(face, {
    again: (...asked) => provider().again?.(...asked) === true,
    listAgain: (...asked) => provider().listAgain?.(...asked) === true,
  });
}

async function* none(): AsyncGenerator<never> {}

function toolsFace(now: () => ToolRegistry, watches: LastingWatches, replaceable: boolean): ToolRegistry {
  return {
    get some() {
      return now().some;
    },
    get watchable() {
      return replaceable || now().watchable;
    },
    get logging() {
      return now().logging;
    },
    ownerOf: (name) => now().ownerOf(name),
    listTools: (...asked) => now().listTools(...asked),
    callTool: (...asked) => now().callTool(...asked),
    callToolAgain: (...asked) => now().callToolAgain(...asked),
    headerParameters: (...asked) => now().headerParameters(...asked),
    watch: (onChange, ctx) => watches.add({ open: () => now().watch(onChange, ctx), replaced: onChange, log: ctx.log }),
  };
}

function promptsFace(now: () => PromptRegistry, watches: LastingWatches, replaceable: boolean): PromptRegistry {
  return {
    get some() {
      return now().some;
    },
    get watchable() {
      return replaceable || now().watchable;
    },
    ownNames: (ctx) => now().ownNames(ctx),
    ownerOf: (...asked) => now().ownerOf(...asked),
    listPrompts: (...asked) => now().listPrompts(...asked),
    getPrompt: (...asked) => now().getPrompt(...asked),
    completePrompt: (...asked) => now().completePrompt(...asked),
    watch: (onChange, ctx) => watches.add({ open: () => now().watch(onChange, ctx), replaced: onChange, log: ctx.log }),
    close: () => now().close(),
  };
}
