/** Keeps the tasks that clients have begun: the ids that clients know, and the tasks that each client may list. */

import { ANONYMOUS, type Context } from '../../core/context.ts';
import type { Keys } from '../../core/keys.ts';
import { createLru } from '../../core/lru.ts';
import { createTaskIds, type TaskRef } from '../../core/task-ids.ts';
import type { Task } from '../../protocol/tasks.ts';

/** The most tasks that are remembered for lists, and for how long, in milliseconds. A forgotten task still answers by its id. */
const MAX_REMEMBERED = 10_000;
const MAX_REMEMBERED_MS = 24 * 60 * 60 * 1000;

export interface TaskBook {
  /** Returns the task with the id that its client knows. */
  published<T extends Task>(task: T, ref: Pick<TaskRef, 'mount' | 'name'>, ctx: Context): T;
  /** Does the same for a task that has just begun. A client of 2025 can list the task from now on. */
  begun<T extends Task>(task: T, ref: Pick<TaskRef, 'mount' | 'name'>, ctx: Context): T;
  /** @throws ResourceError `invalid` for an id that is not one of the caller's */
  open(id: string, ctx: Context): TaskRef;
  /** The caller's tasks, the latest last. */
  of(ctx: Context): readonly TaskRef[];
}

/** Anonymous clients cannot be told apart, so each connection lists its own tasks. */
const ownerOf = ({ principal, peer }: Context): string =>
  principal.id === ANONYMOUS.id ? `peer ${peer}` : `principal ${principal.id}`;

/** @param keys shared by replicas, so that each replica can open the ids of all */
export function createTaskBook(keys: Keys | undefined): TaskBook {
  const ids = createTaskIds(keys);
  const remembered = createLru<string, { readonly owner: string; readonly ref: TaskRef }>(
    MAX_REMEMBERED,
    MAX_REMEMBERED_MS,
  );

  const published: TaskBook['published'] = (task, { mount, name }, { principal }) => ({
    ...task,
    taskId: ids.seal({ mount, name, taskId: task.taskId }, principal.id),
  });

  return {
    published,
    begun(task, { mount, name }, ctx) {
      const sealed = published(task, { mount, name }, ctx);
      // Clients of 2026-07-28 have no list.
      if (ctx.client?.ask === undefined) return sealed;
      const { ttlMs } = task as { readonly ttlMs?: unknown };
      const ttl = typeof ttlMs === 'number' && ttlMs > 0 ? Math.min(ttlMs, MAX_REMEMBERED_MS) : MAX_REMEMBERED_MS;
      remembered.set(sealed.taskId, { owner: ownerOf(ctx), ref: { mount, name, taskId: task.taskId } }, { ttl });
      return sealed;
    },
    open: (id, { principal }) => ids.open(id, principal.id),
    of(ctx) {
      const owner = ownerOf(ctx);
      // `rvalues` gives the oldest first.
      return [...remembered.rvalues()].flatMap((task) => (task?.owner === owner ? [task.ref] : []));
    },
  };
}
