/** Tasks of mounted servers, by mount. */
import type { Context } from '../../core/context.ts';
import type { PublishedServer } from '../../core/mounts/published-server.ts';
import type { NamedOperations } from '../../core/operations.ts';
import { noSuchTask, type TaskRef } from '../../core/task-ids.ts';
import type { Era } from '../../protocol/era.ts';

export interface TaskRegistry extends Pick<NamedOperations, 'askTask'> {
  /** The mounts whose tools may become tasks for clients of an era. */
  mounts(era: Era): readonly string[];
  /** Calls back when the server reports a change. Servers that report none never cause a call. */
  watch(task: TaskRef, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

export function createTaskRegistry(servers: readonly PublishedServer[]): TaskRegistry {
  const byMount = new Map(servers.map((server) => [server.mount, server]));
  return {
    mounts: (era) => servers.filter(({ features }) => features.tasks?.includes(era) === true).map(({ mount }) => mount),
    async askTask(request, { mount = '' }, invocation) {
      const server = byMount.get(mount);
      if (server?.askTask === undefined) throw noSuchTask();
      return server.askTask(request, invocation);
    },
    async watch({ mount, taskId }, onChange, ctx) {
      const server = byMount.get(mount);
      if (server?.watchTask === undefined) throw noSuchTask();
      return server.watchTask(taskId, onChange, ctx);
    },
  };
}
