/**
 * Covers secrets in the names, titles, descriptions and other fields of resources, templates, tools and prompts; with
 * `refuse`, leaves such entries out. An entry with a secret in its URI, or in the name that identifies it, is always
 * left out, because it has no other name.
 */
import type { Context } from '../../core/context.ts';
import type { CompletionValues } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { refused } from './bodies.ts';
import { lookThrough, type TextOptions } from './texts.ts';

export interface LabelOptions extends TextOptions {
  readonly refuse: boolean;
}

/** The fields that identify an entry. */
export const CALLED_BY = {
  resource: new Set(['uri']),
  template: new Set(['uriTemplate']),
  name: new Set(['name']),
  value: new Set(['value']),
} as const;

/** Returns each entry with its secrets covered; undefined for one that is left out. */
export async function shownEach<T extends object>(
  entries: readonly T[],
  calledBy: ReadonlySet<string>,
  options: LabelOptions,
  ctx: Context,
): Promise<readonly (T | undefined)[]> {
  if (entries.length === 0) return [];
  const looked = await lookThrough(entries, calledBy, options, ctx);
  const shown = looked.map((each) => {
    const leftOut = each === undefined || each.named || (options.refuse && each.findings.length > 0);
    return leftOut ? undefined : each.value;
  });
  const count = shown.filter((each) => each === undefined).length;
  if (count > 0) ctx.log.debug('left out: their descriptions contain secrets', { count });
  return shown;
}

/** Returns the entries of a list that are not left out, with their secrets covered. */
export const shownEntries = async <T extends object>(
  ...asked: Parameters<typeof shownEach<T>>
): Promise<readonly T[]> => (await shownEach(...asked)).filter((each) => each !== undefined);

/**
 * Returns one requested resource, with its secrets covered.
 * @throws ResourceError `denied` for one with a secret in it, where that is refused, and for one that is too large
 */
export async function shownResource<T extends Pick<Resource, 'uri'>>(
  resource: T,
  options: LabelOptions,
  ctx: Context,
): Promise<T> {
  const [looked] = await lookThrough([resource], CALLED_BY.resource, options, ctx);
  if (looked === undefined || (options.refuse && looked.findings.length > 0))
    throw refused(resource.uri, looked?.findings ?? []);
  return looked.value;
}

/** How many more values than needed are requested, so that it does not show when some are left out. */
export const SPARE_VALUES = 100;

/** Removes values with a secret in them from a completion, and from its count. */
export async function shownValues(
  completed: CompletionValues,
  limit: number,
  options: LabelOptions,
  ctx: Context,
): Promise<CompletionValues> {
  const { values: all, total: _total, ...rest } = completed;
  const entries = all.map((value) => ({ value }));
  const values = (await shownEntries(entries, CALLED_BY.value, options, ctx)).map(({ value }) => value);
  const hasMore = rest.hasMore || values.length > limit;
  return { ...rest, values: values.slice(0, limit), hasMore, ...(!rest.hasMore && { total: values.length }) };
}
