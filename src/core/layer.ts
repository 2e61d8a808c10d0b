/** A layer takes operations and returns them, wrapped. `wrapProvider` makes sure that it drops none of them by accident. */
import { withAgain } from './again.ts';
import { NAMED_METHODS, type Operations } from './operations.ts';
import { OPTIONAL_METHODS } from './provider.ts';

/** Wraps the operations of a provider or of an engine. */
export type Layer = (inner: Operations) => Operations;

/** The methods and properties that a layer replaces. Overriding an optional method has no effect unless `inner` has it. */
export type ProviderOverrides = Partial<Omit<Operations, AgainName>> & {
  readonly [K in AgainName]?: Operations[K] | undefined;
};

/** Maps each method that asks about an earlier result to the method that gave the result. */
const AGAIN = { again: 'read', listAgain: 'list', callToolAgain: 'callTool' } as const;
type AgainName = keyof typeof AGAIN;
const isAgain = (method: string): method is AgainName => Object.hasOwn(AGAIN, method);

const OPTIONAL: readonly (keyof Operations)[] = [...OPTIONAL_METHODS, ...NAMED_METHODS];

/**
 * Returns a provider that answers like `inner`, except for the overrides.
 *
 * Optional methods stay optional: overriding `watch` of a provider that has no `watch` does not add one. If `read` is overridden,
 * `again` is left out unless it is overridden as well; the same holds for `list` and `listAgain`, and for `callTool` and
 * `callToolAgain`. So the overriding method is never skipped by accident. A layer whose `read` gives the same again whenever
 * `inner` does passes `again: inner.again`.
 *
 * @example
 * const loud: Layer = (inner) =>
 *   wrapProvider(inner, { metadata: (uri, ctx) => (ctx.log.info('metadata', { uri }), inner.metadata(uri, ctx)) });
 */
export function wrapProvider(inner: Operations, overrides: ProviderOverrides): Operations {
  const wrapped: { -readonly [K in keyof Operations]: Operations[K] } = {
    name: inner.name,
    // A getter, because the features of a mounted server are not known until it has been reached.
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
    // If the layer overrides the method that gave the result, `inner` alone cannot tell whether the result would be the same.
    const method = overrides[again] ?? (overrides[AGAIN[again]] === undefined ? original : undefined);
    if (original !== undefined && method !== undefined)
      withAgain(wrapped, { [again]: method === original ? original.bind(inner) : method });
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
