/**
 * Tasks of an upstream, in the way of the era of both ends: one that a client of 2025 begins is had over that client's own
 * connection, where its server knows it from. Where the eras differ there are none: neither end has a way to say it.
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
import type { Link, RequestOptions } from './wire/link.ts';

/** Characters of an id that an upstream gives to a task. */
const MAX_ID_LENGTH = 1_024;

/** Tasks that are watched at a time: all of them are in what an upstream of 2026 is asked for. */
const MAX_WATCHED = 1_000;

export interface TasksSetup {
  readonly calls: Calls;
  /** Makes what a task says of itself fit to be handed on. */
  readonly said: Pick<Said, 'text' | 'fault'>;
  readonly connections: Connections;
  readonly callTimeoutMs: number;
  /** The mount's name. */
  readonly name: string;
  readonly transport: 'pipe' | 'tcp';
  /** A result of the tool, as those of calls are taken. */
  taken(tool: string, result: Data, invocation: Invocation): Promise<Data>;
}

export interface Tasks {
  /** Returns the parameters that make a call a task; none for other calls. @throws PeerError where a task is wanted and cannot be had */
  wanted(task: unknown, link: Link, invocation: Invocation): Data;
  /** A call that its server takes as a task alone, for a client that has no such tasks: the result, when it is there. */
  waitedFor(link: Link, params: Data, options: RequestOptions): Promise<Data>;
  /** The task that a call has become; undefined for any other result. @throws ResourceError `internal` where none was to be had */
  started(result: Data, asked: boolean, invocation: Invocation): TaskStarted | undefined;
  ask(request: TaskRequest, invocation: Invocation): Promise<object>;
  watch(taskId: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
}

export function createTasks(setup: TasksSetup): Tasks {
  const { calls, connections, name, said } = setup;
  let watched = 0;

  /** @throws ResourceError `internal` for what is none */
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

  /** The error that a task has failed with, like one that is answered with. */
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

  /** The result, which a server of 2025 may first ask the client for something for. */
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
      throw new PeerError({ code: METHOD_NOT_FOUND, message: `The server behind "${name}" has no tasks here` });
    },

    async waitedFor(link, params, options) {
      const begun = await link.request('tools/call', { ...params, task: {} }, options);
      if (!isData(begun.task)) return begun;
      const { taskId } = taskIn(begun.task);
      const { signal, timeoutMs } = options;
      try {
        return withoutRelated(await link.request('tasks/result', { taskId }, { signal, timeoutMs }));
      } catch (error) {
        // Nobody waits for it any more, and nobody can come back to it.
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
        // In 2026 it is only said that it was heard.
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
      const view = await connections.of(ctx);
      watched++;
      // Its connection is needed as long as its task is.
      view.running++;
      const handle = await view.watching.task(taskId, onChange);
      return {
        async [Symbol.asyncDispose]() {
          watched--;
          view.running--;
          view.usedAt = Date.now();
          await handle[Symbol.asyncDispose]();
        },
      };
    },
  };
}

const notValid = (name: string): ResourceError =>
  new ResourceError('internal', `The server behind "${name}" gave a task that is not valid`);

/** Which task it is of is said anew, with the id that the client knows. */
function withoutRelated(answer: Data): Data {
  const { resultType: _type, ...result } = withoutServer(answer);
  if (!isData(result._meta)) return result;
  const { [RELATED_TASK_META_KEY]: _related, ...meta } = result._meta;
  const { _meta, ...others } = result;
  return Object.keys(meta).length === 0 ? others : { ...others, _meta: meta };
}
