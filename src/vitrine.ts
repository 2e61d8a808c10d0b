/** Puts mounts, layers and frontends together: the engine that every way of serving shares. */
import { FULL_SIGHT, type Sight } from './core/access.ts';
import type { Admission } from './core/admission.ts';
import type { ChangeHub, ChangeHubOptions } from './core/change-hub.ts';
import type { Principal } from './core/context.ts';
import { type CursorOptions, createCursorCodec } from './core/cursor.ts';
import type { Gate } from './core/gate.ts';
import { applyLayers } from './core/layer.ts';
import type { Mount } from './core/mounts/mount.ts';
import { createResolver } from './core/mounts/resolver.ts';
import { mountTree } from './core/mounts.ts';
import type { Prompt, PromptFolder, PromptSource } from './core/prompt.ts';
import type { ResourceProvider } from './core/provider.ts';
import { publishServer } from './core/published-server.ts';
import type { Telemetry } from './core/telemetry.ts';
import type { Tool } from './core/tool.ts';
import { VERSION } from './core/version.ts';
import { createHubs } from './engine/hubs.ts';
import { iconsOf, joinInstructions, prefixApart, unreadyOf, upstreamStates, withState } from './engine/mounts.ts';
import { createSurroundings, type SurroundingOptions } from './engine/surroundings.ts';
import { promptFolder } from './frontends/prompts/folder/index.ts';
import { createPromptRegistry, type PromptRegistry } from './frontends/prompts/registry.ts';
import { createResourceTools } from './frontends/resource-tools/index.ts';
import type { ResourceToolOptions } from './frontends/resource-tools/setup.ts';
import { createSubscriptionBook, type SubscriptionBook } from './frontends/resource-tools/subscribing/book.ts';
import type { MountIcons } from './frontends/resources/icons.ts';
import { DEFAULT_LIMITS, type ResourceLimits, type ResourceOptions } from './frontends/resources/options.ts';
import { createToolRegistry, type ToolRegistry } from './frontends/tools/registry.ts';
import type { Audit } from './layers/audit/index.ts';
import type { UsageLimits } from './layers/limits/index.ts';
import type { CacheHint, Icon } from './protocol/resources.ts';

export { VERSION } from './core/version.ts';

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

export interface VitrineOptions extends SurroundingOptions {
  readonly mounts: readonly Mount[];
  readonly server?: Partial<ServerIdentity> | undefined;
  readonly limits?: (Partial<ResourceLimits> & UsageLimits) | undefined;
  /** `walk` (default): the default list goes down the tree; `roots`: it shows the mounts' roots only. */
  readonly listing?: 'walk' | 'roots' | undefined;
  readonly cacheHint?: CacheHint | undefined;
  readonly cursors?: CursorOptions | undefined;
  readonly changes?: ChangeHubOptions | undefined;
  /** Tools beside the resource tools. */
  readonly tools?: readonly Tool[] | undefined;
  readonly prompts?: readonly (Prompt | PromptSource)[] | undefined;
  /** Folders of Markdown files that are prompts. */
  readonly promptFolders?: readonly PromptFolder[] | undefined;
  /** Tools that reach the resources, for hosts that give models nothing else. `false` leaves them out. */
  readonly resourceTools?: ResourceToolOptions | false | undefined;
  /** `false` leaves resources without the default icons. */
  readonly icons?: boolean | undefined;
  /**
   * Takes out of a text what no client may see, such as passwords that are sent to other servers. Errors, log messages
   * and reports of progress go through it, and what is said of mounted servers; contents do not. Default: nothing is hidden.
   */
  readonly hide?: ((text: string) => string) | undefined;
}

export interface Vitrine {
  readonly identity: ServerIdentity;
  /** For the model: its own instructions, and those of mounted servers that have been reached and the principal may use. */
  instructionsFor(principal: Principal): string | undefined;
  /** The mount that a published URI belongs to, whether it is there or not. */
  mountOf(uri: string): string | undefined;
  /** What a caller gets to see; undefined where everybody sees everything. */
  readonly sight: Sight | undefined;
  /** The one way in: all mounts, through all layers. */
  readonly provider: ResourceProvider;
  /** Around what is no operation of the provider: tools and prompts. */
  readonly gate: Gate;
  /** How much may be asked for: every way of serving asks here before it begins with something. */
  readonly admission: Admission;
  /** Records what was refused before any operation had begun; undefined without an audit. */
  readonly refused: Audit['refused'] | undefined;
  readonly changes: ChangeHub;
  readonly resources: ResourceOptions;
  /** Icons of mounts, for resources without their own; undefined where none are put on. */
  readonly icons: MountIcons | undefined;
  readonly tools: ToolRegistry;
  readonly prompts: PromptRegistry;
  /** Changes of the prompts: the whole list, under no URI. */
  readonly promptChanges: ChangeHub;
  /** Changes of the tools, likewise. */
  readonly toolChanges: ChangeHub;
  /** What clients have subscribed to by tools; undefined without the resource tools. */
  readonly toolSubscriptions: SubscriptionBook | undefined;
  /** What every way of serving tells of its requests; undefined where nobody wants to know. */
  readonly telemetry: Telemetry | undefined;
  /** Takes out of errors and messages what no client may see; undefined where nothing is hidden. */
  readonly hide: ((text: string) => string) | undefined;
  /** Mounts that have to be there, and are not: without them the server is not ready. */
  unready(): Promise<readonly string[]>;
  /** Ends watches, then providers; resolves when nothing is left running. */
  close(): Promise<void>;
}

/**
 * Makes the engine. It serves nothing by itself: give it to `serveStdio` or `serveHttp`.
 * @throws ResourceError `invalid` when mounts are ambiguous
 */
export function createVitrine(options: VitrineOptions): Vitrine {
  const { resourceTools = {} } = options;
  const toolSubscriptions = resourceTools === false ? undefined : createSubscriptionBook();
  const mounts = withState(options.mounts, toolSubscriptions, options.hide);
  const resolver = createResolver(mounts);
  const around = createSurroundings(options, options.limits, resolver);
  const { gate, audit, access, limits, redaction } = around;
  const provider = applyLayers(mountTree(mounts, resolver), around.layers);
  const hubs = createHubs(provider, { gate, admission: limits.admission }, options.changes);
  const changes = hubs.resourceHub();
  const resources: ResourceOptions = {
    provider,
    cursors: createCursorCodec(options.cursors),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    listing: options.listing ?? 'walk',
    cacheHint: options.cacheHint ?? { ttlMs: 0, cacheScope: 'private' },
  };
  const own =
    resourceTools === false || toolSubscriptions === undefined
      ? undefined
      : createResourceTools(
          {
            resources,
            changes,
            mounts: options.mounts,
            resolver,
            subscriptions: toolSubscriptions,
            sight: access?.sight,
          },
          { ...resourceTools, prefix: resourceTools.prefix ?? prefixApart(options.mounts) },
        );
  const folders = (options.promptFolders ?? []).map((folder) => ({
    ...promptFolder(folder, resources),
    // One with a provider of its own is not served, and so of no mount.
    mount: folder.provider === undefined ? resolver.mountOf(folder.uri) : undefined,
  }));
  const published = options.mounts.flatMap((mount) => publishServer(mount) ?? []);
  const servers = published
    .map((server) => access?.server(server) ?? server)
    .map((server) => redaction?.server(server) ?? server);
  const ownPrompts = [...(options.prompts ?? []), ...folders];
  const prompts = createPromptRegistry(
    redaction === undefined ? ownPrompts : ownPrompts.map(redaction.prompts),
    servers,
    access?.sight,
  );
  const tools = createToolRegistry([...(own?.tools ?? []), ...(options.tools ?? [])], servers, {
    sight: access?.sight,
    resourceTools: new Set(own?.tools.map(({ name }) => name)),
  });
  const promptChanges = hubs.listHub('prompts', prompts);
  const toolChanges = hubs.listHub('tools', tools);
  // Last: what could not be put together leaves no file behind.
  audit?.open();
  const told = options.telemetry?.engine({
    watches: () => changes.size + promptChanges.size + toolChanges.size,
    upstreams: () => upstreamStates(options.mounts),
  });
  return {
    identity: { name: 'vitrine', version: VERSION, ...options.server },
    instructionsFor(principal) {
      const sight = access?.sight ?? FULL_SIGHT;
      const seen = servers.filter(({ mount }) => sight.could(principal, { mount }));
      return joinInstructions(options.server?.instructions, seen);
    },
    sight: access?.sight,
    mountOf: resolver.mountOf,
    provider,
    gate,
    admission: limits.admission,
    refused: audit?.refused,
    changes,
    resources,
    icons: options.icons === false ? undefined : iconsOf(options.mounts, resolver),
    tools,
    prompts,
    promptChanges,
    toolChanges,
    toolSubscriptions,
    telemetry: options.telemetry,
    hide: options.hide,
    unready: () => unreadyOf(options.mounts),
    async close() {
      told?.[Symbol.dispose]();
      await own?.close();
      toolSubscriptions?.close();
      await Promise.all([changes.close(), promptChanges.close(), toolChanges.close()]);
      await prompts.close();
      await provider.close?.();
      await around.close();
    },
  };
}
