/** Puts mounts, layers and frontends together: the engine that every way of serving shares. */
import { FULL_SIGHT, type Sight } from './core/access.ts';
import type { Admission } from './core/admission.ts';
import { type ChangeHub, type ChangeHubOptions, createChangeHub } from './core/change-hub.ts';
import type { Principal } from './core/context.ts';
import { type CursorOptions, createCursorCodec } from './core/cursor.ts';
import { invalid } from './core/errors.ts';
import { type Gate, gates } from './core/gate.ts';
import { applyLayers } from './core/layer.ts';
import { ANY_SCHEME, type Mount, mountTree, publishes, STATE_MOUNT } from './core/mounts.ts';
import type { Prompt, PromptFolder, PromptSource } from './core/prompt.ts';
import type { ResourceProvider } from './core/provider.ts';
import { type PublishedServer, publishServer } from './core/published-server.ts';
import type { Telemetry } from './core/telemetry.ts';
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
import { type Access, type AccessOptions, createAccess } from './layers/access/index.ts';
import { type Audit, type AuditOptions, createAudit } from './layers/audit/index.ts';
import { createLimits, type UsageLimits } from './layers/limits/index.ts';
import { mimeLayer } from './layers/mime/index.ts';
import { createRedaction, type RedactOptions } from './layers/redact/index.ts';
import { type TimeoutOptions, timeoutLayer } from './layers/timeout/index.ts';
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
  /** Globs over published URIs whose reading a human has to confirm. */
  readonly confirm?: readonly string[] | undefined;
  /** `false` leaves resources without the default icons. */
  readonly icons?: boolean | undefined;
  /** For one operation of a provider, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** For one operation of a kind, likewise. */
  readonly timeouts?: TimeoutOptions['timeouts'];
  /** Secrets in what is read are covered, or what has them refused. Default: nothing is looked through. */
  readonly redact?: RedactOptions | undefined;
  /**
   * Who may do what. Default: everybody may do everything. With it, what nothing allows is denied. HTTP takes no tokens
   * without it.
   */
  readonly access?: AccessOptions | undefined;
  /** A record of every operation. Default: none. */
  readonly audit?: AuditOptions | undefined;
  /** Traces and metrics, as `createTelemetry` of `vitrine/layers/telemetry` makes them. Default: none. */
  readonly telemetry?: Telemetry | undefined;
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
  readonly icons: readonly MountIcons[] | undefined;
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
  const mountOf = (uri: string): string | undefined => mounts.find((each) => publishes(each, uri))?.name;
  const { telemetry } = options;
  const observing = telemetry === undefined ? [] : [telemetry.layer(mountOf)];
  const audit = options.audit && createAudit(options.audit, mountOf);
  const auditing = audit === undefined ? [] : [audit.layer];
  const access = accessOf(options, mountOf);
  const deciding = access === undefined ? [] : [access.layer];
  const limits = createLimits(options.limits, audit?.refused);
  const { timeoutMs, timeouts } = options;
  const redaction = options.redact && createRedaction(options.redact);
  const redacting = redaction === undefined ? [] : [redaction.layer];
  const layers = [
    ...observing,
    ...auditing,
    ...deciding,
    limits.layer,
    timeoutLayer({ timeoutMs, timeouts }),
    ...redacting,
    mimeLayer(),
  ];
  const gate = gates([telemetry?.gate(mountOf), audit?.gate, access?.gate].filter((each) => each !== undefined));
  const provider = applyLayers(mountTree(mounts), layers);
  const changes = gated(counted(createChangeHub(provider, options.changes), limits.admission), gate);
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
          { resources, changes, mounts: options.mounts, subscriptions: toolSubscriptions, sight: access?.sight },
          { ...resourceTools, prefix: resourceTools.prefix ?? apartFrom(options.mounts) },
        );
  const folders = (options.promptFolders ?? []).map((folder) => promptFolder(folder, resources));
  const published = options.mounts.flatMap((mount) => publishServer(mount) ?? []);
  const servers = redaction === undefined ? published : published.map(redaction.server);
  const prompts = createPromptRegistry([...(options.prompts ?? []), ...folders], servers, access?.sight);
  const tools = createToolRegistry([...(own?.tools ?? []), ...(options.tools ?? [])], servers, {
    sight: access?.sight,
    resourceTools: new Set(own?.tools.map(({ name }) => name)),
  });
  const promptChanges = gated(
    createChangeHub(changesOf('prompts', prompts, provider), options.changes),
    gate,
    'prompts',
  );
  const toolChanges = gated(createChangeHub(changesOf('tools', tools, provider), options.changes), gate, 'tools');
  // Last: what could not be put together leaves no file behind.
  audit?.open();
  const told = telemetry?.engine({
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
    mountOf,
    provider,
    gate,
    admission: limits.admission,
    refused: audit?.refused,
    changes,
    resources,
    icons: options.icons === false ? undefined : iconsOf(options.mounts),
    tools,
    prompts,
    promptChanges,
    toolChanges,
    toolSubscriptions,
    telemetry,
    hide: options.hide,
    unready: () => unreadyOf(options.mounts),
    async close() {
      told?.[Symbol.dispose]();
      await own?.close();
      toolSubscriptions?.close();
      await Promise.all([changes.close(), promptChanges.close(), toolChanges.close()]);
      await prompts.close();
      await provider.close?.();
      limits.close();
      await redaction?.close();
      await access?.close();
      await audit?.close();
    },
  };
}

/** Watches are shared: each subscription to a resource counts itself (SEC-RES-4). */
const counted = (hub: ChangeHub, admission: Admission): ChangeHub => ({
  async subscribe(uri, listener, ctx) {
    if (uri === undefined) return hub.subscribe(uri, listener, ctx);
    const release = admission.hold('subscriptions', ctx.principal);
    try {
      const handle = await hub.subscribe(uri, listener, ctx);
      return {
        async [Symbol.asyncDispose]() {
          release();
          await handle[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      release();
      throw error;
    }
  },
  get size() {
    return hub.size;
  },
  close: () => hub.close(),
});

/** Who may do what, and what a human confirms: rules of one kind. */
function accessOf(
  { access, confirm = [] }: VitrineOptions,
  mountOf: (uri: string) => string | undefined,
): Access | undefined {
  if (confirm.length === 0) return access === undefined ? undefined : createAccess(access, mountOf);
  const asking = { name: 'confirm', effect: 'ask', operations: ['read'], uris: confirm } as const;
  if (access === undefined) return createAccess({ rules: [asking], default: 'allow' }, mountOf);
  if ('decide' in access) throw invalid('With an access policy of its own, what is confirmed is decided there');
  return createAccess({ ...access, rules: [...access.rules, asking] }, mountOf);
}

async function unreadyOf(mounts: readonly Mount[]): Promise<readonly string[]> {
  const asked = mounts.flatMap(({ name, ready }) => (ready === undefined ? [] : [{ name, ready }]));
  const answers = await Promise.all(asked.map(({ ready }) => ready().catch(() => false)));
  return asked.filter((_, index) => answers[index] === false).map(({ name }) => name);
}

/** How each mounted server is, in one word. */
const upstreamStates = (mounts: readonly Mount[]): readonly { readonly mount: string; readonly state: string }[] =>
  mounts.flatMap(({ name, health }) => {
    const found = health?.();
    return found !== undefined && 'state' in found ? [{ mount: name, state: String(found.state) }] : [];
  });

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
function withState(
  mounts: readonly Mount[],
  book: SubscriptionBook | undefined,
  hide: VitrineOptions['hide'],
): readonly Mount[] {
  const documents: StateDocument[] = [];
  if (book !== undefined) documents.push(subscriptionsDocument(book));
  if (mounts.some((mount) => mount.health !== undefined)) documents.push(upstreamsDocument(mounts, hide));
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
