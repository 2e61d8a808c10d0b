/** Makes an engine of mounts, layers and frontends. Stdio and HTTP serve it alike. */
import type { AccessOutline } from '../core/access.ts';
import type { Admission } from '../core/admission.ts';
import type { Bus } from '../core/bus.ts';
import type { ChangeHubOptions } from '../core/change-hub.ts';
import { closeAll } from '../core/close-all.ts';
import type { Principal } from '../core/context.ts';
import { invalid } from '../core/errors.ts';
import type { Keys } from '../core/keys.ts';
import { applyLayers } from '../core/layer.ts';
import { type CursorOptions, createCursorCodec } from '../core/lists/cursor.ts';
import { publishServer } from '../core/mounts/published-server.ts';
import type { Resolver } from '../core/mounts/resolver.ts';
import type { EngineOperations } from '../core/operations.ts';
import type { Prompt, PromptSource } from '../core/prompt.ts';
import type { RankedIndex, RankedSearch } from '../core/ranked.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { Tool } from '../core/tool.ts';
import { VERSION } from '../core/version.ts';
import { withNamed } from '../core/with-named.ts';
import type { AppTools } from '../frontends/app/index.ts';
import { completedByName } from '../frontends/completion/by-name.ts';
import { promptFolder } from '../frontends/prompts/folder/index.ts';
import { createPromptRegistry, type PromptRegistry } from '../frontends/prompts/registry.ts';
import { createResourceTools } from '../frontends/resource-tools/index.ts';
import type { ResourceToolOptions } from '../frontends/resource-tools/setup.ts';
import { createSubscriptionBook, type SubscriptionBook } from '../frontends/resource-tools/subscribing/book.ts';
import { type MountIcons, withIcons } from '../frontends/resources/icons.ts';
import { createKeptAnswers } from '../frontends/resources/kept.ts';
import { DEFAULT_LIMITS, type ResourceLimits, type ResourceOptions } from '../frontends/resources/options.ts';
import { createSkillRegistry } from '../frontends/skills/registry.ts';
import { indexDocument } from '../frontends/state.ts';
import { createTaskBook, type TaskBook } from '../frontends/tasks/book.ts';
import { createTaskRegistry, type TaskRegistry } from '../frontends/tasks/registry.ts';
import { createToolRegistry, type ToolRegistry } from '../frontends/tools/registry.ts';
import type { Audit } from '../layers/audit/index.ts';
import { DEFAULT_USAGE, type UsageLimits } from '../layers/limits/index.ts';
import { findsSkills, type Skills } from '../layers/skills/index.ts';
import type { CacheHint, Icon } from '../protocol/resources.ts';
import { type Changes, createChanges } from './changes.ts';
import { createLayers, type LayerOptions } from './layers.ts';
import { createLiveMounts, type NamedParts, type ServedMounts } from './live-mounts.ts';
import { iconsOf, joinInstructions, prefixApart, unreadyOf, upstreamStates, withState } from './mounts.ts';
import { createOneWatcher } from './one-watcher/index.ts';
import { operatorDocuments } from './operators/index.ts';

export { VERSION } from '../core/version.ts';

/** The identity that the server shows to clients (973-1). */
export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** Instructions for the model: how to use what is served. */
  readonly instructions?: string | undefined;
}

export interface EngineOptions extends LayerOptions, ServedMounts {
  /**
   * Whether `replaceMounts` may be called later. If so, the server declares that it notifies of changed lists. Default: `false`.
   */
  readonly replaceable?: boolean | undefined;
  readonly server?: Partial<ServerIdentity> | undefined;
  readonly limits?: (Partial<ResourceLimits> & UsageLimits) | undefined;
  /** The list of all resources: `walk` (default) goes down the tree; `roots` shows only the roots of the mounts. */
  readonly listing?: 'walk' | 'roots' | undefined;
  readonly cacheHint?: CacheHint | undefined;
  readonly cursors?: Omit<CursorOptions, 'keys'> | undefined;
  readonly changes?: ChangeHubOptions | undefined;
  /** Tools in addition to the resource tools. */
  readonly tools?: readonly Tool[] | undefined;
  readonly prompts?: readonly (Prompt | PromptSource)[] | undefined;
  /** The tools that give access to resources, for hosts that offer only tools to models. `false` leaves them out. */
  readonly resourceTools?: ResourceToolOptions | false | undefined;
  /** The index of ranked search, as `createIndex` of `vitrine/search` returns it. Default: none. */
  readonly index?: RankedIndex | undefined;
  /**
   * Which things get default icons. `true` (default): all. `described`: templates, and resources when they are described or read,
   * but not the entries of lists of resources and tools. Lists have the icons that are configured for a mount with both. `false`:
   * nothing has default icons or those that are configured for a mount.
   */
  readonly icons?: boolean | 'described' | undefined;
  /**
   * Removes from a text what no client may see, such as passwords for other servers. It is applied to errors, log messages,
   * reports of progress and the state of mounted servers, but not to contents. Default: nothing is removed.
   */
  readonly hide?: ((text: string) => string) | undefined;
}

export interface Engine {
  readonly identity: ServerIdentity;
  /**
   * Returns instructions for the model: the server's own, and those of mounted servers that have been reached and that the
   * principal may use.
   */
  instructionsFor(principal: Principal): string | undefined;
  /** Returns the name of the mount that a published URI belongs to, whether or not the resource exists. */
  mountOf(uri: string): string | undefined;
  /** Tells what a caller could do, before it requests anything; undefined if everybody may do everything. */
  readonly access: AccessOutline | undefined;
  /**
   * All operations on mounts, tools, prompts, skills, tasks and subscriptions, through all layers. Requests reach them in no other
   * way. Only the index reads the mounts without the layers that depend on the caller.
   */
  readonly provider: EngineOperations;
  /** Limits the requests: stdio and HTTP ask it before they begin with a request. */
  readonly admission: Admission;
  /** Records requests that were refused before an operation began; undefined without an audit. */
  readonly refused: Audit['refused'] | undefined;
  /** Counts the open watches. Use `provider.subscribe` to open one. */
  readonly changes: Pick<Changes, 'size'>;
  readonly resources: ResourceOptions;
  /**
   * Tells whether there can be tools, whether their list can be watched, whether they log, and which mounts own them. Use `provider`
   * to list and call them.
   */
  readonly tools: Pick<ToolRegistry, 'some' | 'watchable' | 'logging' | 'ownerOf'>;
  /** Tells whether there can be prompts, whether their list can be watched, and which mounts own them. */
  readonly prompts: Pick<PromptRegistry, 'some' | 'watchable' | 'ownerOf' | 'ownNames'>;
  readonly skills: {
    /** Whether there can be skills now. */
    readonly some: boolean;
    /** Whether the folders of all skills can be listed. */
    readonly directories: boolean;
    /** Tells the operator how many skills a mount has, and which are left out. */
    found: Skills['found'];
  };
  /** Tells for which mounts and eras calls may become tasks, and converts between the ids of clients and of servers. */
  readonly tasks: Pick<TaskRegistry, 'mounts'> & { readonly book: TaskBook };
  /** The name of the tool that searches; undefined without the resource tools. */
  readonly searchTool: string | undefined;
  /** The names of the tools of the explorer as an app; undefined without the resource tools. */
  readonly app: AppTools | undefined;
  /** The subscriptions that clients have made by tools; undefined without the resource tools. */
  readonly toolSubscriptions: SubscriptionBook | undefined;
  /** The telemetry that stdio and HTTP report their requests to; undefined without telemetry. */
  readonly telemetry: Telemetry | undefined;
  /** Removes from errors and messages what no client may see; undefined if nothing is removed. */
  readonly hide: ((text: string) => string) | undefined;
  /** Joins this replica with others; undefined if there is only one process. */
  readonly bus: Bus | undefined;
  /** While the bus cannot be reached: count rates in this process (`local`), or refuse requests (`refuse`). */
  readonly ratesWithoutBus: 'local' | 'refuse';
  /** The keys that replicas share; undefined if each process uses its own. */
  readonly keys: Keys | undefined;
  /** Ranked search; undefined without an index. */
  readonly ranked: RankedSearch | undefined;
  /** Returns the mounts that must be reachable and are not. As long as there are any, the server is not ready. */
  unready(): Promise<readonly string[]>;
  /**
   * Replaces the mounts and folders of prompts. Subscribers are notified, and sessions go on. A mount whose provider is the same
   * object as before stays open; a provider that is missing in `next` is closed. Undefined if mounts are not `replaceable`.
   * @throws ResourceError `invalid` if the mounts are ambiguous; then nothing has changed
   */
  readonly replaceMounts: ((next: ServedMounts) => Promise<void>) | undefined;
  /**
   * Ends watches, then providers, and then the layers with their files, also after one of them fails. Resolves when everything
   * has ended.
   * @throws the error of the part that failed; an AggregateError with all errors if several failed
   */
  close(): Promise<void>;
}

const NO_KEYS = 'A bus needs keys that all replicas share; make one with: openssl rand -base64 32';

function iconsFor(mounts: MountIcons, listed: boolean): Pick<ResourceOptions, 'withIcons' | 'withListIcons'> {
  const everywhere = withIcons(mounts);
  return { withIcons: everywhere, withListIcons: listed ? everywhere : withIcons(mounts, false) };
}

/**
 * Makes an engine. It does not listen by itself: pass it to `serveStdio` or `serveHttp`.
 * @throws ResourceError `invalid` if mounts are ambiguous, for a bus or shared answers without keys, and for other invalid
 *   options
 */
export function createEngine(options: EngineOptions): Engine {
  if (options.bus !== undefined && options.keys === undefined) throw invalid(NO_KEYS);
  const { resourceTools = {}, icons = true, replaceable = false } = options;
  const toolSubscriptions = resourceTools === false ? undefined : createSubscriptionBook();
  const state = indexDocument(
    () => ranked?.state(),
    (principal) => access === undefined || access.outline.everything(principal),
  );
  const oneWatcher = createOneWatcher(options.bus);
  const live = createLiveMounts({
    replaceable,
    oneWatcher,
    withState: (mounts) =>
      withState(
        mounts,
        toolSubscriptions,
        options.hide,
        options.index && state,
        operatorDocuments({
          mounts,
          access: layers.access,
          audit: layers.audit,
          limits: layers.limits,
          metadata: (uri, ctx) => provider.metadata(uri, ctx),
          mountOf: (uri) => resolver.mountOf(uri),
          ownerOfTool: (name) => tools.ownerOf(name),
          ownerOfPrompt: (name, ctx) => prompts.ownerOf(name, ctx),
          hide: options.hide,
        }),
        layers.access?.outline.operators,
      ),
    partsOf,
  });
  const { resolver, tools, prompts, tasks } = live;
  const resourceLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const layers = createLayers(options, options.limits, resolver, resourceLimits.maxReadBytes);
  const { audit, access, limits, skills } = layers;
  // Tools and prompts are made from `provider`, so that they read resources through all layers; hence `named` comes later.
  const tree = withNamed(live.tree, () => named);
  // Layers keep every method, so the result has all operations of an engine.
  const layered = applyLayers(tree, layers.all);
  const completed = options.index ? completedByName(layered, () => ranked, resourceLimits.completionMs) : layered;
  const provider = completed as EngineOperations;
  const resources: ResourceOptions = {
    provider,
    cursors: createCursorCodec({ ...options.cursors, keys: options.keys }),
    limits: resourceLimits,
    ...(icons !== false && iconsFor((uri) => iconsOf(live, uri), icons === true)),
    kept: createKeptAnswers(provider, resourceLimits.keptBytes),
    listing: options.listing ?? 'walk',
    cacheHint: options.cacheHint ?? { ttlMs: 0, cacheScope: 'private' },
  };

  const hasSkills = (): boolean => live.skills.some || live.mounts.some(findsSkills);

  function partsOf({ mounts, promptFolders = [] }: ServedMounts, { mountOf }: Resolver): NamedParts {
    const own =
      resourceTools === false || toolSubscriptions === undefined
        ? undefined
        : createResourceTools(
            {
              resources,
              operations: provider,
              mounts,
              resolver,
              subscriptions: toolSubscriptions,
              access: access?.outline,
              ranked: options.index && (() => ranked),
              hasSkills,
              shared: options.bus !== undefined,
            },
            { icons: icons === true, ...resourceTools, prefix: resourceTools.prefix ?? prefixApart(mounts) },
          );
    const folders = promptFolders.map((folder) => ({
      ...promptFolder(folder, resources),
      // A folder with its own provider is not in the tree, so its prompts belong to no mount.
      mount: folder.provider === undefined ? mountOf(folder.uri) : undefined,
    }));
    const servers = mounts.flatMap((mount) => publishServer(mount) ?? []);
    return {
      servers,
      own,
      folders,
      prompts: createPromptRegistry([...(options.prompts ?? []), ...folders], servers),
      tools: createToolRegistry(
        [...(own?.tools ?? []), ...(options.tools ?? [])],
        servers,
        own && { names: new Set(own.tools.map(({ name }) => name)), again: own.again },
      ),
      tasks: createTaskRegistry(servers),
      skills: createSkillRegistry(servers, mountOf),
    };
  }

  let ranked: RankedSearch | undefined;
  live.begin(options);
  const changes = createChanges(provider, { tools, prompts, tasks }, options.changes);
  const { listTools, callTool, callToolAgain, headerParameters } = tools;
  const { askTask } = tasks;
  const { listPrompts, getPrompt, completePrompt } = prompts;
  const { listSkills, getSkill } = live.skills;
  const { subscribe } = changes;
  const named = {
    listTools,
    callTool,
    callToolAgain,
    askTask,
    headerParameters,
    listPrompts,
    getPrompt,
    completePrompt,
    listSkills,
    getSkill,
    subscribe,
  };
  // The audit file is opened after everything that may refuse the options, so that an engine that cannot be made leaves no file.
  audit?.open();
  ranked = options.index?.begin({
    provider: applyLayers(live.tree, layers.withoutCaller),
    mounts: () => live.mounts,
    mountOf: resolver.mountOf,
    access: access?.outline,
    settings: JSON.stringify([options.redact, options.forms, options.describe]),
  });
  const metrics = options.telemetry?.engine({
    watches: () => changes.size,
    upstreams: () => upstreamStates(live.mounts),
    index: options.index && (() => ranked?.state()),
    bus: options.bus?.state,
    conversions: layers.conversions,
    answers: layers.answers,
  });
  return {
    identity: { name: 'vitrine', version: VERSION, ...options.server },
    instructionsFor(principal) {
      const allowed = live.parts.servers.filter(({ mount }) => access?.outline.could(principal, { mount }) !== false);
      return joinInstructions(options.server?.instructions, allowed);
    },
    access: access?.outline,
    mountOf: resolver.mountOf,
    provider,
    admission: limits.admission,
    refused: audit?.refused,
    changes,
    resources,
    tools,
    prompts,
    skills: {
      get some() {
        return hasSkills();
      },
      get directories() {
        return live.skills.directories;
      },
      found: skills.found,
    },
    tasks: { mounts: tasks.mounts, book: createTaskBook(options.keys) },
    get searchTool() {
      return live.parts.own?.search;
    },
    get app() {
      return live.parts.own?.app;
    },
    toolSubscriptions,
    telemetry: options.telemetry,
    hide: options.hide,
    bus: options.bus,
    ratesWithoutBus: options.limits?.without ?? DEFAULT_USAGE.without,
    keys: options.keys,
    ranked,
    unready: () => unreadyOf(live.mounts),
    replaceMounts: replaceable
      ? async (next) => {
          await live.replace(next);
          ranked?.changed();
        }
      : undefined,
    async close() {
      await closeAll(
        () => metrics?.[Symbol.dispose](),
        () => live.parts.own?.close(),
        () => toolSubscriptions?.close(),
        () => ranked?.close(),
        () => changes.close(),
        () => prompts.close(),
        () => oneWatcher.close(),
        () => provider.close?.(),
        () => layers.close(),
      );
    },
  };
}
