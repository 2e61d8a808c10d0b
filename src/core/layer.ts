/** A layer takes a provider and gives one back; `wrapProvider` sees to it that nothing is dropped on the way. */
import { OPTIONAL_METHODS, type ResourceProvider } from './provider.ts';

export type Layer = (inner: ResourceProvider) => ResourceProvider;

/** The methods and facts a layer replaces. An override of an optional method only counts where `inner` has it. */
export type ProviderOverrides = Partial<ResourceProvider>;

/**
 * A provider that answers like `inner`, but for the overrides.
 *
 * Optional methods stay optional: overriding `watch` for a provider without it does not invent it.
 *
 * @example
 * const loud: Layer = (inner) =>
 *   wrapProvider(inner, { metadata: (uri, ctx) => (ctx.log.info('metadata', { uri }), inner.metadata(uri, ctx)) });
 */
export function wrapProvider(inner: ResourceProvider, overrides: ProviderOverrides): ResourceProvider {
  const wrapped: { -readonly [K in keyof ResourceProvider]: ResourceProvider[K] } = {
    name: inner.name,
    features: inner.features,
    list: (uri, page, ctx) => inner.list(uri, page, ctx),
    metadata: (uri, ctx) => inner.metadata(uri, ctx),
    read: (uri, want, ctx) => inner.read(uri, want, ctx),
    ...required(overrides),
  };
  for (const method of OPTIONAL_METHODS) {
    const original = inner[method];
    if (original === undefined) continue;
    Object.assign(wrapped, { [method]: overrides[method] ?? original.bind(inner) });
  }
  return wrapped;
}

function required(overrides: ProviderOverrides): Partial<ResourceProvider> {
  const optional: ReadonlySet<string> = new Set(OPTIONAL_METHODS);
  return Object.fromEntries(
    Object.entries(overrides).filter(([key, value]) => !optional.has(key) && value !== undefined),
  );
}

/** Applies layers around a provider; the first of the list is the outermost. */
export function applyLayers(provider: ResourceProvider, layers: readonly Layer[]): ResourceProvider {
  return layers.reduceRight((inner, layer) => layer(inner), provider);
}
