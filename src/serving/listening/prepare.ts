/**
 * Places the watches that `subscriptions/listen` (2026-07-28) asks for, before the request is acknowledged. The acknowledgement
 * leaves out everything that cannot be honoured.
 */

import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Data, isData } from '../../protocol/data.ts';
import type { ListName } from '../../protocol/list-name.ts';
import type { Capabilities } from '../dispatch/capabilities.ts';
import { MAX_SUBSCRIPTIONS, type Subscriptions } from '../subscriptions.ts';
import { MAX_TASKS, type TaskNotices } from '../task-notices.ts';

/** The fields of `params.notifications` that are supported. */
export interface ListenFilter {
  readonly resourcesListChanged?: boolean;
  readonly promptsListChanged?: boolean;
  readonly toolsListChanged?: boolean;
  readonly resourceSubscriptions?: readonly string[];
  readonly taskIds?: readonly string[];
}

/** The filter of a listen request; undefined if it is malformed. */
export function filterOf(params: Data | undefined): ListenFilter | undefined {
  const filter = params?.notifications;
  if (!isData(filter)) return undefined;
  const { resourceSubscriptions, taskIds } = filter;
  if (![resourceSubscriptions, taskIds].every((each) => each === undefined || isStrings(each))) return undefined;
  return filter;
}

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** How many watches of one request are placed at the same time. */
const CONCURRENCY = 16;

/** @returns the part of the filter that is honoured */
export async function prepareListening(
  subscriptions: Subscriptions,
  tasks: TaskNotices,
  filter: ListenFilter,
  declared: Capabilities,
  ctx: Context,
): Promise<ListenFilter> {
  // URIs and tasks over the limits could not be honoured, so they are left out first.
  const subscribes = declared.resources?.subscribe === true;
  const wanted = subscribes ? [...new Set(filter.resourceSubscriptions ?? [])].slice(0, MAX_SUBSCRIPTIONS) : [];
  const accepted = await added(wanted, (uri) => tryTo(() => subscriptions.add(uri, ctx), uri, ctx), ctx);
  const ids = [...new Set(filter.taskIds ?? [])].slice(0, MAX_TASKS);
  const taskIds = await added(ids, (id) => tryTo(() => tasks.add(id, ctx), undefined, ctx), ctx);
  const listens = async (list: ListName): Promise<boolean> =>
    filter[`${list}ListChanged`] === true &&
    declared[list]?.listChanged === true &&
    (await tryTo(() => subscriptions.addList(list, ctx), undefined, ctx));
  return {
    ...((await listens('tools')) && { toolsListChanged: true }),
    ...((await listens('prompts')) && { promptsListChanged: true }),
    ...((await listens('resources')) && { resourcesListChanged: true }),
    ...(accepted.length > 0 && { resourceSubscriptions: accepted }),
    ...(taskIds.length > 0 && { taskIds }),
  };
}

/** Adds a watch for each item. @returns the items whose watches could be added */
async function added(
  wanted: readonly string[],
  add: (item: string) => Promise<boolean>,
  { signal }: Context,
): Promise<readonly string[]> {
  const accepted: string[] = [];
  for (let at = 0; at < wanted.length && !signal.aborted; at += CONCURRENCY) {
    const batch = wanted.slice(at, at + CONCURRENCY);
    const done = await Promise.all(batch.map(add));
    accepted.push(...batch.filter((_, index) => done[index]));
  }
  return accepted;
}

async function tryTo(add: () => Promise<void>, uri: string | undefined, ctx: Context): Promise<boolean> {
  try {
    await add();
    return true;
  } catch (error) {
    const expected = ctx.signal.aborted || (error instanceof ResourceError && error.code !== 'internal');
    ctx.log[expected ? 'debug' : 'warn']('a part of a listen request is not honoured', { uri, error });
    return false;
  }
}
