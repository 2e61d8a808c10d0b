/** Puts mounts, layers and frontends together: the engine that every way of serving shares. */
import type { AccessOutline } from '../core/access.ts';
import type { Admission } from '../core/admission.ts';
import type { Bus } from '../core/bus.ts';
import type { ChangeHubOptions } from '../core/change-hub.ts';
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

/** How the server introduces itself (973-1). */
export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** For the model: how to use what is served. */
  readonly instructions?: string | undefined;
}

export interface EngineOptions extends LayerOptions, ServedMounts {
  /** Whether `replaceMounts` may be called later; then clients are promised to be told when lists change. Default: `false`. */
  readonly replaceable?: boolean | undefined;
  readonly server?: Partial<ServerIdentity> | undefined;
  readonly limits?: (Partial<ResourceLimits> & UsageLimits) | undefined;
  /** `walk` (default): the default list goes down the tree; `roots`: it shows the mounts' roots only. */
  readonly listing?: 'walk' | 'roots' | undefined;
  readonly cacheHint?: CacheHint | undefined;
  readonly cursors?: Omit<CursorOptions, 'keys'> | undefined;
  readonly changes?: ChangeHubOptions | undefined;
  /** Tools beside the resource tools. */
  readonly tools?: readonly Tool[] | undefined;
  readonly prompts?: readonly (Prompt | PromptSource)[] | undefined;
  /** Tools that reach the resources, for hosts that give models nothing else. `false` leaves them out. */
  readonly resourceTools?: ResourceToolOptions | false | undefined;
  /** Finds the best places for a question in words, as `createIndex` of `vitrine/search` makes it. Default: none. */
  readonly index?: RankedIndex | undefined;
  /**
   * The things that get default icons: all (`true`, default); those that are described or read, and templates, but not lists
   * of resources and tools (`described`); or none (`false`). Icons that somebody configured are in lists too, but for `false`.
   */
  readonly icons?: boolean | 'described' | undefined;
  /**
   * Takes out of a text what no client may see, such as passwords that are sent to other servers. Errors, log messages
   * and reports of progress go through it, and what is said of mounted servers; contents do not. Default: nothing is hidden.
   */
  readonly hide?: ((text: string) => string) | undefined;
}

export interface Engine {
  readonly identity: ServerIdentity;
  /** For the model: its own instructions, and those of mounted servers that have been reached and the principal may use. */
  instructionsFor(principal: Principal): string | undefined;
  /** The mount that a published URI belongs to, whether it is there or not. */
  mountOf(uri: string): string | undefined;
  /** Tells what a caller could do, before it asks for anything; undefined where everybody may do everything. */
  readonly access: AccessOutline | undefined;
  /** The one way in: all mounts, tools, prompts and subscriptions, through all layers. */
  readonly provider: EngineOperations;
  /** How much may be asked for: every way of serving asks here before it begins with something. */
  readonly admission: Admission;
  /** Records what was refused before any operation had begun; undefined without an audit. */
  readonly refused: Audit['refused'] | undefined;
  /** Counts the open watches; `provider.subscribe` is the way to watch. */
  readonly changes: Pick<Changes, 'size'>;
  readonly resources: ResourceOptions;
  /** Which tools and prompts there can be, and whose they are; the provider lists and runs them. */
  readonly tools: Pick<ToolRegistry, 'some' | 'watchable' | 'logging' | 'ownerOf'>;
  readonly prompts: Pick<PromptRegistry, 'some' | 'watchable' | 'ownerOf' | 'ownNames'>;
  readonly skills: {
    /** Whether there can be skills now. */
    readonly some: boolean;
    /** Whether the folders of all skills can be listed. */
    readonly directories: boolean;
    /** For whoever runs the server: how many skills a mount has, and which are left out. */
    found: Skills['found'];
  };
  /** In which eras calls may become tasks, of which mounts, and under which ids clients know them. */
  readonly tasks: Pick<TaskRegistry, 'mounts'> & { readonly book: TaskBook };
  /** The name of the tool that searches; undefined without the resource tools. */
  readonly searchTool: string | undefined;
  /** The names of the tools of the explorer as an app; undefined without the resource tools. */
  readonly app: AppTools | undefined;
  /** The subscriptions that clients have made by tools; undefined without the resource tools. */
  readonly toolSubscriptions: SubscriptionBook | undefined;
  /** The telemetry that every way of serving reports its requests to; undefined where there is none. */
  readonly telemetry: Telemetry | undefined;
  /** Takes out of errors and messages what no client may see; undefined where nothing is hidden. */
  readonly hide: ((text: string) => string) | undefined;
  /** Joins replicas, and the keys that they share; undefined where there is one process only. */
  readonly bus: Bus | undefined;
  /** How rates are counted while the bus is away. */
  readonly ratesWithoutBus: 'local' | 'refuse';
  readonly keys: Keys | undefined;
  /** Ranked search; undefined without an index. */
  readonly ranked: RankedSearch | undefined;
  /** Mounts that have to be there, and are not: without them the server is not ready. */
  unready(): Promise<readonly string[]>;
  /**
   * Serves other mounts and folders of prompts from now on: whoever listens is told, sessions go on. A mount that is the same object
   * is left as it is; one that is not among them any more is closed. Undefined where mounts are not `replaceable`.
   * @throws ResourceError `invalid` when they are ambiguous: then nothing has changed
   */
  readonly replaceMounts: ((next: ServedMounts) => Promise<void>) | undefined;
  /** Ends watches, then providers; resolves when nothing is left running. */
  close(): Promise<void>;
}

const NO_KEYS = 'A bus needs keys that all replicas share; make one with: openssl rand -base64 32';

function iconsFor(mounts: MountIcons, listed: boolean): Pick<ResourceOptions, 'withIcons' | 'withListIcons'> {
  const everywhere = withIcons(mounts);
  return { withIcons: everywhere, withListIcons: listed ? everywhere : withIcons(mounts, false) };
}

/**
 * Makes the engine. It serves nothing by itself: give it to `serveStdio` or `serveHttp`.
 * @throws ResourceError `invalid` when mounts are ambiguous, and for a bus without keys
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
  const bounds = { ...DEFAULT_LIMITS, ...options.limits };
  const layers = createLayers(options, options.limits, resolver, bounds.maxReadBytes);
  const { audit, access, limits, skills } = layers;
  // Tools and prompts read through the same layers that are around them.
  const tree = withNamed(live.tree, () => named);
  // A layer keeps every method that there is.
  const layered = applyLayers(tree, layers.all);
  const completed = options.index ? completedByName(layered, () => ranked, bounds.completionMs) : layered;
  const provider = completed as EngineOperations;
  const resources: ResourceOptions = {
    provider,
    cursors: createCursorCodec({ ...options.cursors, keys: options.keys }),
    limits: bounds,
    ...(icons !== false && iconsFor((uri) => iconsOf(live, uri), icons === true)),
    kept: createKeptAnswers(provider, bounds.keptBytes),
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
      // One with a provider of its own is not served, and so of no mount.
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
  // Last: what could not be put together leaves no file behind.
  audit?.open();
  ranked = options.index?.begin({
    provider: applyLayers(live.tree, layers.ofNobody),
    mounts: () => live.mounts,
    mountOf: resolver.mountOf,
    access: access?.outline,
    settings: JSON.stringify([options.redact, options.forms, options.describe]),
  });
  const told = options.telemetry?.engine({
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
      const seen = live.parts.servers.filter(({ mount }) => access?.outline.could(principal, { mount }) !== false);
      return joinInstructions(options.server?.instructions, seen);
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
      told?.[Symbol.dispose]();
      await live.parts.own?.close();
      toolSubscriptions?.close();
      await ranked?.close();
      await changes.close();
      await prompts.close();
      await oneWatcher.close();
      await provider.close?.();
      await layers.close();
    },
  };
}
