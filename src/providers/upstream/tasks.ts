/**
 * Tasks of an upstream, where both ends speak the same era. A task of a 2025 client runs over that client's own connection, by
 * which the server identifies it. Where the eras differ there are no tasks, since neither end could express them.
 */
import type { Data } from '../../connection/data.ts';
import type { Context } from '../../core/context.ts';
import { PeerError, ResourceError } from '../../core/errors.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { TaskRequest } from '../../core/mounts/mounted-server.ts';
import { noSuchTask } from '../../core/task-ids.ts';
import { isData } from '../../protocol/data.ts';
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import {
  isTaskStarted,
  RELATED_TASK_META_KEY,
  TASK_STATUSES,
  type Task,
  type TaskStarted,
  taskOf2025,
} from '../../protocol/tasks.ts';
import { withClient, withoutServer } from './asking.ts';
import type { Calls } from './calls.ts';
import { declaresTasks, isOf2025 } from './clients.ts';
import type { Connections } from './connections.ts';
import { hasTasks } from './facts.ts';
import type { Said } from './said.ts';
import { sendTraced } from './traced.ts';
import type { View } from './view.ts';
import type { Link, RequestOptions } from './wire/link.ts';

/** The most characters of a task's id from an upstream. */
const MAX_ID_LENGTH = 1_024;

/** The most tasks that are watched: each request to a 2026 upstream for changes names all of them. */
const MAX_WATCHED = 1_000;

export interface TasksSetup {
  readonly calls: Calls;
  /** Cleans the texts of a task for the client. */
  readonly said: Pick<Said, 'text' | 'fault'>;
  readonly connections: Connections;
  readonly callTimeoutMs: number;
  /** The name of the mount. */
  readonly name: string;
  readonly transport: 'pipe' | 'tcp';
  /** Prepares a result of the tool, as for plain calls. */
  taken(tool: string, result: Data, invocation: Invocation): Promise<Data>;
}

export interface Tasks {
  /** Returns the parameters that make a call a task, if requested. @throws PeerError where tasks are impossible */
  wanted(task: unknown, link: Link, invocation: Invocation): Data;
  /** Runs a call that the server accepts only as a task, for a client without tasks: waits for the result. */
  waitedFor(link: Link, params: Data, options: RequestOptions): Promise<Data>;
  /** Returns the task that a call has become, if any. @throws ResourceError `internal` for an unexpected or invalid task */
  started(result: Data, asked: boolean, invocation: Invocation): TaskStarted | undefined;
  ask(request: TaskRequest, invocation: Invocation): Promise<object>;
  watch(taskId: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

export function createTasks(setup: TasksSetup): Tasks {
  const { calls, connections, name, said } = setup;
  let watched = 0;

  /** @throws ResourceError `internal` for an invalid task */
  function taskIn(given: Data): Task {
    const { taskId, status, statusMessage, error } = given;
    const isId = typeof taskId === 'string' && taskId !== '' && taskId.length <= MAX_ID_LENGTH;
    if (!isId || typeof status !== 'string' || !TASK_STATUSES.has(status)) throw notValid(name);
    return {
      ...given,
      ...(typeof statusMessage === 'string' && { statusMessage: said.text(statusMessage) }),
      ...(isData(error) && { error: failureIn(error) }),
      taskId,
      status,
    };
  }

  /** Returns the error with which a task has failed, as the error of an answer. */
  function failureIn({ code, message, data }: Data): object {
    const wire = { code: Number(code), message: String(message), ...(isData(data) && { data }) };
    const clean = said.fault(new PeerError(wire));
    return clean instanceof PeerError ? clean.wire : wire;
  }

  function send(link: Link, { method, ...request }: TaskRequest, invocation: Invocation, signal: AbortSignal) {
    if (!hasTasks(link) || (link.era === 'legacy') !== isOf2025(invocation)) throw noSuchTask();
    const { taskId } = request;
    const params = { taskId, ...(method === 'tasks/update' && { inputResponses: { ...invocation.answers } }) };
    const outgoing = { method, name: request.name, mount: name, transport: setup.transport };
    return sendTraced(invocation, outgoing, withClient(params, link, invocation), (traced) =>
      link.request(method, traced, { signal, timeoutMs: setup.callTimeoutMs }),
    );
  }

  /** Gets the result; a server of 2025 may ask the client questions first. */
  async function resultOf(request: TaskRequest, invocation: Invocation): Promise<Data> {
    const outcome = await calls.run(invocation, {
      lease: () => connections.forCall(invocation),
      send: async ({ link }, { signal }) => send(link, request, invocation, signal),
    });
    if ('asks' in outcome) throw noSuchTask();
    return setup.taken(request.name, withoutRelated(outcome.result), invocation);
  }

  return {
    wanted(task, link, invocation) {
      if (task === undefined || !isOf2025(invocation)) return {};
      if (link.era === 'legacy' && hasTasks(link)) return { task };
      throw new PeerError({ code: METHOD_NOT_FOUND, message: `The server behind "${name}" has no tasks` });
    },

    async waitedFor(link, params, options) {
      const begun = await link.request('tools/call', { ...params, task: {} }, options);
      if (!isData(begun.task)) return begun;
      const { taskId } = taskIn(begun.task);
      const { signal, timeoutMs } = options;
      try {
        return withoutRelated(await link.request('tasks/result', { taskId }, { signal, timeoutMs }));
      } catch (error) {
        // Nobody waits for the task any more, and no client can return to it.
        link.request('tasks/cancel', { taskId }, { timeoutMs }).catch(() => {});
        throw error;
      }
    },

    started(result, asked, invocation) {
      const given = isTaskStarted(result) ? result : asked && isData(result.task) ? taskOf2025(result.task) : undefined;
      if (given === undefined) return undefined;
      if (!asked && !declaresTasks(invocation)) throw notValid(name);
      const { _meta } = result;
      return { ...(isData(_meta) && { _meta }), ...taskIn(withoutServer(given)), resultType: 'task' };
    },

    async ask(request, invocation) {
      const { method } = request;
      if (method === 'tasks/result') return resultOf(request, invocation);
      const lease = await connections.forCall(invocation);
      try {
        const { link } = lease;
        const answer = withoutServer(await send(link, request, invocation, invocation.signal));
        // In 2026 the answer only confirms the request.
        if (method === 'tasks/update' || (method === 'tasks/cancel' && link.era === 'modern')) return {};
        const task = taskIn(link.era === 'legacy' ? taskOf2025(answer) : answer);
        if (task.taskId !== request.taskId) throw notValid(name);
        if (!isData(task.result)) return task;
        return { ...task, result: await setup.taken(request.name, withoutRelated(task.result), invocation) };
      } finally {
        lease.release(true);
      }
    },

    async watch(taskId, onChange, ctx) {
      if (watched >= MAX_WATCHED)
        throw new ResourceError('limited', `At most ${MAX_WATCHED} tasks of the server behind "${name}" are watched`);
      // Counted before the waits, since others come meanwhile.
      watched++;
      let view: View | undefined;
      const release = (): void => {
        watched--;
        if (view === undefined) return;
        view.running--;
        view.usedAt = Date.now();
      };
      try {
        view = await connections.of(ctx);
        // The connection is needed as long as the task runs.
        view.running++;
        const handle = await view.watching.task(taskId, onChange);
        let ending: Promise<void> | undefined;
        const end = async (): Promise<void> => {
          release();
          await handle[Symbol.asyncDispose]();
        };
        return { [Symbol.asyncDispose]: () => (ending ??= end()) };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

const notValid = (name: string): ResourceError =>
  new ResourceError('internal', `The server behind "${name}" gave an invalid task`);

/** Removes the related task, which has the server's id of the task. Clients know the task by another id. */
function withoutRelated(answer: Data): Data {
  const { resultType: _type, ...result } = withoutServer(answer);
  if (!isData(result._meta)) return result;
  const { [RELATED_TASK_META_KEY]: _related, ...meta } = result._meta;
  const { _meta, ...others } = result;
  return Object.keys(meta).length === 0 ? others : { ...others, _meta: meta };
}
