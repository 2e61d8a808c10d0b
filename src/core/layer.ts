/** A layer takes what can be asked for and gives it back; `wrapProvider` sees to it that nothing is dropped on the way. */
import { withAgain } from './again.ts';
import { NAMED_METHODS, type Operations } from './operations.ts';
import { OPTIONAL_METHODS } from './provider.ts';

/** Around a provider, or around all that an engine has. */
export type Layer = (inner: Operations) => Operations;

/** The methods and facts a layer replaces. An override of an optional method only counts where `inner` has it. */
export type ProviderOverrides = Partial<Omit<Operations, AgainName>> & {
  readonly [K in AgainName]?: Operations[K] | undefined;
};

/** The method that each of these asks about. */
const AGAIN = { again: 'read', listAgain: 'list', callToolAgain: 'callTool' } as const;
type AgainName = keyof typeof AGAIN;
const isAgain = (method: string): method is AgainName => Object.hasOwn(AGAIN, method);

const OPTIONAL: readonly (keyof Operations)[] = [...OPTIONAL_METHODS, ...NAMED_METHODS];

/**
 * A provider that answers like `inner`, but for the overrides.
 *
 * Optional methods stay optional: overriding `watch` for a provider without it does not invent it. With `read` overridden,
 * `again` is left out unless it is overridden as well, and likewise `listAgain` with `list` and `callToolAgain` with
 * `callTool`: then nothing is taken as read, listed or called that was not. A layer that has nothing to add to an answer
 * of `inner` says so with `again: inner.again`.
 *
 * @example
 * const loud: Layer = (inner) =>
 *   wrapProvider(inner, { metadata: (uri, ctx) => (ctx.log.info('metadata', { uri }), inner.metadata(uri, ctx)) });
 */
export function wrapProvider(inner: Operations, overrides: ProviderOverrides): Operations {
  const wrapped: { -readonly [K in keyof Operations]: Operations[K] } = {
    name: inner.name,
    // Those of a mounted server are known when it has been reached.
    get features() {
      return inner.features;
    },
    list: (uri, page, ctx) => inner.list(uri, page, ctx),
    metadata: (uri, ctx) => inner.metadata(uri, ctx),
    read: (uri, want, ctx) => inner.read(uri, want, ctx),
    ...required(overrides),
  };
  for (const method of OPTIONAL) {
    const original = inner[method];
    if (typeof original !== 'function' || isAgain(method)) continue;
    Object.assign(wrapped, { [method]: overrides[method] ?? original.bind(inner) });
  }
  for (const again of Object.keys(AGAIN).filter(isAgain)) {
    const original = inner[again];
    // Only a layer that overrides what is asked about knows whether it would give the same.
    const own = overrides[again] ?? (overrides[AGAIN[again]] === undefined ? original : undefined);
    if (original !== undefined && own !== undefined)
      withAgain(wrapped, { [again]: own === original ? original.bind(inner) : own });
  }
  return wrapped;
}

function required(overrides: ProviderOverrides): Partial<Operations> {
  const optional: ReadonlySet<string> = new Set(OPTIONAL);
  return Object.fromEntries(
    Object.entries(overrides).filter(([key, value]) => !(optional.has(key) || isAgain(key)) && value !== undefined),
  );
}

/** Applies layers; the first of the list is the outermost. */
export function applyLayers(provider: Operations, layers: readonly Layer[]): Operations {
  return layers.reduceRight((inner, layer) => layer(inner), provider);
}
