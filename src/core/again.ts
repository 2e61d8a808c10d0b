/**
 * Asks a provider whether it would give the same bodies or page again, so that they need not be made again
 * (`ResourceProvider.again` and `listAgain`). A provider marks the bodies and pages about which it can be asked. A layer that
 * makes new ones of them remembers the origin of each.
 */
import type { NamedOperations } from './operations.ts';
import type { ByteRange, ResourceProvider } from './provider.ts';

type Again = NonNullable<ResourceProvider['again']>;
type ListAgain = NonNullable<ResourceProvider['listAgain']>;

/** Methods that tell whether a provider would give the same thing again. */
export interface AgainMethods {
  readonly again?: Again | undefined;
  readonly listAgain?: ListAgain | undefined;
}

/** The same methods, and the one for results of tools. */
export interface AllAgainMethods extends AgainMethods {
  readonly callToolAgain?: NamedOperations['callToolAgain'] | undefined;
}

const marked = new WeakSet<object>();

/** Marks the bodies of a read, or a page, so that the provider can be asked about them. The bodies must all be in memory. */
export function markRepeatable<T extends object>(value: T): T {
  marked.add(value);
  return value;
}

/** Whether a value is marked, so that its provider, and each layer that changed it, can be asked about it. */
export const isRepeatable = (value: object): boolean => marked.has(value);

/**
 * Gives a provider these methods in a way that a copy of the provider does not have them: a copy may have another `read`, which
 * refuses more, and these methods would pass it by.
 */
export function withAgain<P extends ResourceProvider>(provider: P, methods: AllAgainMethods): P {
  for (const [name, value] of Object.entries(methods))
    if (value !== undefined) Object.defineProperty(provider, name, { value });
  return provider;
}

/** Whether two reads want the same part. */
export const isSameRange = (a: ByteRange | undefined, b: ByteRange | undefined): boolean =>
  a?.offset === b?.offset && a?.length === b?.length;

/** Remembers from which bodies or page of the inner provider a layer has made its own. */
export interface Origins {
  /**
   * Remembers that `outer` was made from `inner`. Use it only if `outer` depends on nothing else: not on the caller, the time, or
   * anything that can change.
   * @returns `outer`
   */
  made<T extends object>(outer: T, inner: T): T;
  /** Asks the inner provider about the origin of the bodies. False if the origin is not known. */
  readonly again: Again;
  /** Does the same for a page. */
  readonly listAgain: ListAgain;
}

export function createOrigins(provider: AgainMethods): Origins {
  const origins = new WeakMap<object, unknown>();
  return {
    made(outer, inner) {
      if (outer === inner || !isRepeatable(inner)) return outer;
      origins.set(outer, inner);
      return markRepeatable(outer);
    },
    again(bodies, uri, want, ctx) {
      const origin = origins.get(bodies) as typeof bodies | undefined;
      return origin !== undefined && provider.again?.(origin, uri, want, ctx) === true;
    },
    listAgain(page, uri, want, ctx) {
      const origin = origins.get(page) as typeof page | undefined;
      return origin !== undefined && provider.listAgain?.(origin, uri, want, ctx) === true;
    },
  };
}
