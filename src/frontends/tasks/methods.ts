/** Answers requests about tasks. Each request goes to the task's mount; the client knows the task by an id of its own. */
import type { Invocation } from '../../core/invocation.ts';
import type { NamedOperations } from '../../core/operations.ts';
import type { TaskRef } from '../../core/task-ids.ts';
import type { Data } from '../../protocol/data.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import { type Task, type TaskMethod, withRelatedTask } from '../../protocol/tasks.ts';
import { pageOf } from '../page.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';
import type { TaskBook } from './book.ts';

export interface TaskSetup {
  readonly provider: Pick<NamedOperations, 'askTask'>;
  readonly book: TaskBook;
}

/** Tasks on a page of a list. The server of each task is asked about it. */
const PAGE_SIZE = 20;

/** @throws ResourceError `invalid` for an id that is not one of the caller's, and the errors of the task's server */
export async function askTask(
  { provider, book }: TaskSetup,
  method: TaskMethod,
  id: string,
  invocation: Invocation,
): Promise<object> {
  return askServer(provider, method, book.open(id, invocation), id, invocation);
}

function askServer(
  provider: TaskSetup['provider'],
  method: TaskMethod,
  { mount, name, taskId }: TaskRef,
  id: string,
  invocation: Invocation,
): Promise<object> {
  return provider.askTask({ method, name, taskId }, { mount, foreign: true }, related(invocation, taskId, id));
}

/** A task as it is now, under the client's id. @throws as `askTask` */
export async function getTask({ provider, book }: TaskSetup, id: string, invocation: Invocation): Promise<Task> {
  const ref = book.open(id, invocation);
  return book.published((await askServer(provider, 'tasks/get', ref, id, invocation)) as Task, ref, invocation);
}

/** The caller's tasks that their servers still know. @throws ResourceError `invalid` for a cursor of another list */
export async function listTasks(
  { provider, book }: TaskSetup,
  options: ResourceOptions,
  params: { readonly cursor?: string | undefined },
  invocation: Invocation,
): Promise<{ readonly tasks: readonly Task[]; readonly nextCursor?: string }> {
  const scope = scopeOf(invocation, 'tasks/list');
  const cursor = openCursor(options, params.cursor, scope);
  const page = pageOf(book.of(invocation), ({ mount, taskId }) => `${mount} ${taskId}`, { cursor, limit: PAGE_SIZE });
  const found = await Promise.all(
    page.items.map(async (ref) => {
      const { taskId: id } = book.published({ taskId: ref.taskId, status: '' }, ref, invocation);
      return getTask({ provider, book }, id, invocation).catch((error: unknown) => {
        invocation.log.debug('a task is not listed', { mount: ref.mount, error });
        return undefined;
      });
    }),
  );
  return { tasks: found.filter((task) => task !== undefined), ...nextCursor(options, page.nextCursor, scope) };
}

/**
 * Translates the task id of a task's messages: to the client's id on their way to the client, and to the server's id in the
 * client's answers.
 */
function related(invocation: Invocation, native: string, id: string): Invocation {
  const { client, progress, notify } = invocation;
  const { ask } = client;
  const outward = (value: Data): Data => withRelatedTask(value, (task) => (task === native ? id : task));
  const inward = (value: Data): Data => withRelatedTask(value, (task) => (task === id ? native : task));
  return {
    ...invocation,
    progress: (at, total, message, others) => progress(at, total, message, others && outward(others)),
    notify: (level, data, logger, others) => notify(level, data, logger, others && outward(others)),
    ...(ask !== undefined && {
      client: {
        ...client,
        async ask(request, signal, reports) {
          const { params } = request;
          const sent = params === undefined ? request : ({ ...request, params: outward(params) } as InputRequest);
          return inward((await ask(sent, signal, reports)) as Data);
        },
      },
    }),
  };
}
