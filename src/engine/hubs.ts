/** The hubs of changes: watches are shared, and each subscriber is counted and decided about by itself. */
import type { Admission } from '../core/admission.ts';
import { type ChangeHub, type ChangeHubOptions, createChangeHub } from '../core/change-hub.ts';
import type { Gate } from '../core/gate.ts';
import type { ResourceProvider } from '../core/provider.ts';
import type { ToolRegistry } from '../frontends/tools/registry.ts';

export interface Hubs {
  /** Changes of resources, and of their list. */
  resourceHub(): ChangeHub;
  /** Changes of a list of tools or prompts, under no URI. */
  listHub(name: 'prompts' | 'tools', registry: Pick<ToolRegistry, 'watch'>): ChangeHub;
}

export function createHubs(
  provider: ResourceProvider,
  { gate, admission }: { readonly gate: Gate; readonly admission: Admission },
  options: ChangeHubOptions | undefined,
): Hubs {
  return {
    resourceHub: () => gated(counted(createChangeHub(provider, options), admission), gate),
    listHub: (name, registry) => gated(createChangeHub(changesOf(name, registry, provider), options), gate, name),
  };
}

/** Each subscription to a resource counts (SEC-RES-4). */
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

/** @param name of a list without a URI */
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
