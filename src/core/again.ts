/**
 * Bodies and pages that a provider would give again, so that nobody has to make them again (`ResourceProvider.again` and
 * `listAgain`). A provider marks those that it can be asked about. A layer that makes others of them remembers the origin of
 * each.
 */
import type { NamedOperations } from './operations.ts';
import type { ByteRange, ResourceProvider } from './provider.ts';

type Again = NonNullable<ResourceProvider['again']>;
type ListAgain = NonNullable<ResourceProvider['listAgain']>;

/** The questions whether something would be given again. */
export interface AgainMethods {
  readonly again?: Again | undefined;
  readonly listAgain?: ListAgain | undefined;
}

/** Likewise of all that can be asked for. */
export interface AllAgainMethods extends AgainMethods {
  readonly callToolAgain?: NamedOperations['callToolAgain'] | undefined;
}

const marked = new WeakSet<object>();

/** Marks the bodies of a read, or a page, as something that its provider can be asked about. All of it has to be in memory. */
export function markRepeatable<T extends object>(given: T): T {
  marked.add(given);
  return given;
}

/** Whether it makes sense to ask about it: a provider, and each layer that changed it, know it. */
export const isRepeatable = (given: object): boolean => marked.has(given);

/**
 * Gives a provider `again` and the others, which no copy of it has: who copies a provider to put another `read` into it,
 * which may refuse more, is not passed by.
 */
export function withAgain<P extends ResourceProvider>(provider: P, methods: AllAgainMethods): P {
  for (const [name, value] of Object.entries(methods))
    if (value !== undefined) Object.defineProperty(provider, name, { value });
  return provider;
}

/** Whether two reads want the same part. */
export const isSameRange = (a: ByteRange | undefined, b: ByteRange | undefined): boolean =>
  a?.offset === b?.offset && a?.length === b?.length;

/** Remembers, for what a layer gives, what the inner provider gave of which it was made. */
export interface Origins {
  /**
   * Remembers it. Only for what depends on nothing but what the inner provider gave: not on the caller, the time, or
   * anything that can change.
   * @returns `outer`
   */
  made<T extends object>(outer: T, inner: T): T;
  /** Asks the inner provider about what the bodies were made of; no where that is not known. */
  readonly again: Again;
  /** Likewise about a page. */
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
