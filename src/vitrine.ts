/** Puts mounts, layers and frontends together: the engine that every way of serving shares. */
import { type ChangeHub, type ChangeHubOptions, createChangeHub } from './core/change-hub.ts';
import { type CursorOptions, createCursorCodec } from './core/cursor.ts';
import { invalid } from './core/errors.ts';
import { type Gate, OPEN_GATE } from './core/gate.ts';
import { applyLayers } from './core/layer.ts';
import { ANY_SCHEME, type Mount, mountTree, publishes, STATE_MOUNT } from './core/mounts.ts';
import type { Prompt, PromptFolder, PromptSource } from './core/prompt.ts';
import type { ResourceProvider } from './core/provider.ts';
import { type PublishedServer, publishServer } from './core/published-server.ts';
import type { Tool } from './core/tool.ts';
import { VERSION } from './core/version.ts';
import { promptFolder } from './frontends/prompts/folder/index.ts';
import { createPromptRegistry, type PromptRegistry } from './frontends/prompts/registry.ts';
import { createResourceTools, type ResourceToolOptions } from './frontends/resource-tools/index.ts';
import { createSubscriptionBook, type SubscriptionBook } from './frontends/resource-tools/subscribing/book.ts';
import type { MountIcons } from './frontends/resources/icons.ts';
import { DEFAULT_LIMITS, type ResourceLimits, type ResourceOptions } from './frontends/resources/options.ts';
import { type StateDocument, stateMount, upstreamsDocument } from './frontends/state.ts';
import { createToolRegistry, type ToolRegistry } from './frontends/tools/registry.ts';
import { type AuditOptions, createAudit } from './layers/audit/index.ts';
import { confirmLayer } from './layers/confirm/index.ts';
import { mimeLayer } from './layers/mime/index.ts';
import { timeoutLayer } from './layers/timeout/index.ts';
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

export interface VitrineOptions {
  readonly mounts: readonly Mount[];
  readonly server?: Partial<ServerIdentity> | undefined;
  readonly limits?: Partial<ResourceLimits> | undefined;
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
  /** Globs over published URIs whose reading a human has to confirm. */
  readonly confirm?: readonly string[] | undefined;
  /** `false` leaves resources without the default icons. */
  readonly icons?: boolean | undefined;
  /** For one operation of a provider, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** A record of every operation. Default: none. */
  readonly audit?: AuditOptions | undefined;
}

export interface Vitrine {
  readonly identity: ServerIdentity;
  /** For the model: its own instructions, and those of the servers that are mounted, as far as they have been reached. */
  readonly instructions: string | undefined;
  /** The one way in: all mounts, through all layers. */
  readonly provider: ResourceProvider;
  /** Around what is no operation of the provider: tools and prompts. */
  readonly gate: Gate;
  readonly changes: ChangeHub;
  readonly resources: ResourceOptions;
  /** Icons of mounts, for resources without their own; undefined where none are put on. */
  readonly icons: readonly MountIcons[] | undefined;
  readonly tools: ToolRegistry;
  readonly prompts: PromptRegistry;
  /** Changes of the prompts: the whole list, under no URI. */
  readonly promptChanges: ChangeHub;
  /** Changes of the tools, likewise. */
  readonly toolChanges: ChangeHub;
  /** What clients have subscribed to by tools; undefined without the resource tools. */
  readonly toolSubscriptions: SubscriptionBook | undefined;
  /** Ends watches, then providers; resolves when nothing is left running. */
  close(): Promise<void>;
}

/**
 * Makes the engine. It serves nothing by itself: give it to `serveStdio` or `serveHttp`.
 * @throws ResourceError `invalid` when mounts are ambiguous
 */
export function createVitrine(options: VitrineOptions): Vitrine {
  const { confirm = [], resourceTools = {} } = options;
  const confirming = confirm.length === 0 ? [] : [confirmLayer({ uris: confirm })];
  const toolSubscriptions = resourceTools === false ? undefined : createSubscriptionBook();
  const mounts = withState(options.mounts, toolSubscriptions);
  const audit = options.audit && createAudit(options.audit, (uri) => mounts.find((each) => publishes(each, uri))?.name);
  const auditing = audit === undefined ? [] : [audit.layer];
  const layers = [...auditing, ...confirming, timeoutLayer({ timeoutMs: options.timeoutMs }), mimeLayer()];
  const gate = audit?.gate ?? OPEN_GATE;
  const provider = applyLayers(mountTree(mounts), layers);
  const changes = gated(createChangeHub(provider, options.changes), gate);
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
          { resources, changes, mounts: options.mounts, subscriptions: toolSubscriptions },
          { ...resourceTools, prefix: resourceTools.prefix ?? apartFrom(options.mounts) },
        );
  const folders = (options.promptFolders ?? []).map((folder) => promptFolder(folder, resources));
  const servers = options.mounts.flatMap((mount) => publishServer(mount) ?? []);
  const prompts = createPromptRegistry([...(options.prompts ?? []), ...folders], servers);
  const tools = createToolRegistry([...(own?.tools ?? []), ...(options.tools ?? [])], servers);
  const promptChanges = gated(
    createChangeHub(changesOf('prompts', prompts, provider), options.changes),
    gate,
    'prompts',
  );
  const toolChanges = gated(createChangeHub(changesOf('tools', tools, provider), options.changes), gate, 'tools');
  // Last: what could not be put together leaves no file behind.
  audit?.open();
  return {
    identity: { name: 'vitrine', version: VERSION, ...options.server },
    get instructions() {
      return joinInstructions(options.server?.instructions, servers);
    },
    provider,
    gate,
    changes,
    resources,
    icons: options.icons === false ? undefined : iconsOf(options.mounts),
    tools,
    prompts,
    promptChanges,
    toolChanges,
    toolSubscriptions,
    async close() {
      await own?.close();
      toolSubscriptions?.close();
      await Promise.all([changes.close(), promptChanges.close(), toolChanges.close()]);
      await prompts.close();
      await provider.close?.();
      await audit?.close();
    },
  };
}

/** Watches are shared: each subscription passes the gate itself. @param name of a list without a URI */
const gated = (hub: ChangeHub, gate: Gate, name?: string): ChangeHub => ({
  subscribe: (uri, listener, ctx) =>
    gate({ method: 'subscribe', uri, name }, ctx, () => hub.subscribe(uri, listener, ctx)),
  get size() {
    return hub.size;
  },
  close: () => hub.close(),
});

/** A registry as something to watch, for clients that may be apart as they are in the tree. */
const changesOf = (
  name: string,
  registry: Pick<ToolRegistry, 'watch'>,
  provider: ResourceProvider,
): Parameters<typeof createChangeHub>[0] => ({
  name,
  get features() {
    return provider.features;
  },
  watch: (_uri, onChange, ctx) => registry.watch(() => onChange({ kind: 'list-changed' }), ctx),
});

/** The mounts and, before them, the one of Vitrine's own state: it has no roots, so no list begins with it. */
function withState(mounts: readonly Mount[], book: SubscriptionBook | undefined): readonly Mount[] {
  const documents: StateDocument[] = [];
  if (book !== undefined) documents.push(subscriptionsDocument(book));
  if (mounts.some((mount) => mount.health !== undefined)) documents.push(upstreamsDocument(mounts));
  if (documents.length === 0) return mounts;
  if (mounts.some((mount) => mount.name === STATE_MOUNT)) {
    throw invalid(`The mount name "${STATE_MOUNT}" is taken: Vitrine publishes its state under it. Choose another one`);
  }
  return [stateMount(documents), ...mounts];
}

const subscriptionsDocument = (book: SubscriptionBook): StateDocument => ({
  name: 'subscriptions',
  title: 'Subscriptions by tools',
  description: 'What this client has subscribed to by the tools, and what has changed since',
  of: (ctx) => book.of(ctx),
});

/** The resource tools' prefix beside a server whose tools have none: a tool of its own may be called `read`, too. */
const apartFrom = (mounts: readonly Mount[]): string | undefined =>
  mounts.some(({ server, prefix }) => server !== undefined && prefix === 'none') ? STATE_MOUNT : undefined;

/** Characters of all instructions: a model reads them before anything else. */
const MAX_INSTRUCTIONS = 32_768;

/** Each mounted server's instructions under its name: they speak of tools and URIs as that server calls them. */
function joinInstructions(own: string | undefined, servers: readonly PublishedServer[]): string | undefined {
  const parts = servers.flatMap(({ mount, prefix, instructions }) => {
    if (instructions === undefined || instructions.trim() === '') return [];
    if (prefix === '') return [instructions];
    return [
      `# ${mount}\n\nHere its tools and prompts begin with "${prefix}", its URIs with "${mount}+".\n\n${instructions}`,
    ];
  });
  const all = own === undefined ? parts : [own, ...parts];
  return all.length === 0 ? undefined : all.join('\n\n').slice(0, MAX_INSTRUCTIONS);
}

/** Icons of mounts, by what the URIs of each begin with. Those of a mounted server are its own business. */
function iconsOf(mounts: readonly Mount[]): readonly MountIcons[] {
  const all = mounts.flatMap(({ name, prefix, provider, icons, server }): MountIcons[] => {
    if (icons === undefined && server === undefined) return [];
    if (prefix !== 'none') return [`${name}+`, `ui://${name}+`].map((begins) => ({ prefix: begins, icons }));
    const { schemes } = provider.features;
    return schemes.map((scheme) => ({ prefix: scheme === ANY_SCHEME ? '' : `${scheme}:`, icons }));
  });
  // What begins with more is meant first.
  return all.sort((a, b) => b.prefix.length - a.prefix.length);
}
