/** The methods of tasks. Each era has its own; they are offered only if a mounted server has tasks in that era. */

import type { Invocation } from '../../core/invocation.ts';
import { scrub } from '../../core/text/scrub.ts';
import type { Engine } from '../../engine/index.ts';
import { askTask, getTask, listTasks } from '../../frontends/tasks/methods.ts';
import { isData } from '../../protocol/data.ts';
import type { Era } from '../../protocol/era.ts';
import { METHOD_NOT_FOUND, MISSING_CAPABILITY } from '../../protocol/error-codes.ts';
import { listTasksParams, taskParams } from '../../protocol/methods.ts';
import {
  isTaskStarted,
  RELATED_TASK_META_KEY,
  TASKS_EXTENSION,
  type Task,
  type TaskMethod,
  type TaskStarted,
  takesTasks,
  taskIn2025,
} from '../../protocol/tasks.ts';
import { withParams } from './asking.ts';
import type { Failure } from './envelope.ts';
import { admitted, hiddenIn, type Method, RequestRefused, withMeta } from './methods.ts';

/** The error for a client of 2026-07-28 that uses tasks without declaring the extension. */
export const TASKS_NOT_DECLARED = {
  code: MISSING_CAPABILITY,
  message: `Missing required client capability: the request does not declare the extension ${TASKS_EXTENSION}`,
  data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
};

/** The task methods of an era, by name. */
export function taskMethods(engine: Engine, era: Era): ReadonlyMap<string, Method> {
  const { provider, tasks, resources, hide } = engine;
  const setup = { provider, book: tasks.book };

  type Run = (id: string, invocation: Invocation) => Promise<object>;
  const ofTask = (name: TaskMethod, run: Run): Method => ({
    name,
    params: taskParams,
    async run(params, invocation) {
      if (era === 'modern' && !takesTasks(invocation.client.declared)) throw new RequestRefused(TASKS_NOT_DECLARED);
      return run((params as { readonly taskId: string }).taskId, invocation);
    },
  });
  const shown = (task: Task): object => shownTask(task, era, hide);

  const get = ofTask('tasks/get', async (id, invocation) => shown(await getTask(setup, id, invocation)));
  const methods =
    era === 'modern'
      ? [
          get,
          ofTask('tasks/update', (id, invocation) => askTask(setup, 'tasks/update', id, invocation)),
          ofTask('tasks/cancel', (id, invocation) => askTask(setup, 'tasks/cancel', id, invocation)),
        ]
      : [
          get,
          ofTask('tasks/cancel', async (id, invocation) => {
            const task = (await askTask(setup, 'tasks/cancel', id, invocation)) as Task;
            return shown({ ...task, taskId: id });
          }),
          ofTask('tasks/result', async (id, invocation) => {
            const result = shownResult(await askTask(setup, 'tasks/result', id, invocation), hide);
            return withMeta(result, { [RELATED_TASK_META_KEY]: { taskId: id } });
          }),
          {
            name: 'tasks/list',
            params: listTasksParams,
            async run(params: unknown, invocation: Invocation) {
              const found = await listTasks(setup, resources, params as { readonly cursor?: string }, invocation);
              return { ...found, tasks: found.tasks.map(shown) };
            },
          },
        ];
  return new Map(methods.map((each) => [each.name, admitted(engine, each)]));
}

/** A task as clients of an era get it. Secrets are hidden in its texts, and in its result if that is an error. */
export function shownTask(task: Task, era: Era, hide: Engine['hide']): object {
  const { result, ...rest } = task;
  const hidden = { ...hiddenIn(rest, hide), taskId: task.taskId } as Task;
  if (era === 'legacy') return taskIn2025(hidden);
  const shown = withParams(hidden);
  return isData(result) ? { ...shown, result: shownResult(result, hide) } : shown;
}

const shownResult = (result: object, hide: Engine['hide']): object =>
  'isError' in result && result.isError === true ? hiddenIn(result, hide) : result;

/** The answer to a call that has become a task; undefined for any other call. */
export function taskAnswer(result: object, era: Era, hide: Engine['hide']): object | undefined {
  if (!isTaskStarted(result)) return undefined;
  if (era === 'modern') return shownTask(result, era, hide);
  const { _meta, ...task } = result as TaskStarted & { readonly _meta?: object };
  return { task: shownTask(task, era, hide), ...(_meta !== undefined && { _meta }) };
}

/** The task id in the answer to a call of 2025; undefined if the call has become no task. */
export function taskIdIn(answer: object): string | undefined {
  const { task } = answer as { readonly task?: unknown };
  return isData(task) && typeof task.taskId === 'string' ? task.taskId : undefined;
}

/** The refusal of a call as a task, for a tool that cannot run as one. */
export const noTaskOf = (name: string): Failure => ({
  error: { code: METHOD_NOT_FOUND, message: scrub(`The tool ${JSON.stringify(name)} is not called as a task`) },
});
