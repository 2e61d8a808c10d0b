/**
 * Tasks: work that a call of a tool has begun and that goes on when the call is answered. 2025-11-25 has them in its core,
 * 2026-07-28 as an extension (SEP-2663), with other names for two fields; here they are as the extension writes them.
 */
import { changed, type Data, isData } from './data.ts';

/** In `capabilities.extensions`, of servers and clients of 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** In the `_meta` of what belongs to a task, in 2025-11-25: `{taskId}`. */
export const RELATED_TASK_META_KEY = 'io.modelcontextprotocol/related-task';

/** The revision of the 2025 era that has tasks. */
export const TASKS_REVISION = '2025-11-25';

/** Characters of an id that a client sends. */
export const MAX_TASK_ID = 8_192;

export type TaskMethod = 'tasks/get' | 'tasks/result' | 'tasks/update' | 'tasks/cancel';

/** With every field that came: `ttlMs`, `createdAt`, `statusMessage` and others are the server's, and are handed on. */
export interface Task {
  readonly taskId: string;
  readonly status: string;
  /** Of a completed one in 2026-07-28: what the call would have given. */
  readonly result?: unknown;
  /** Of a failed one in 2026-07-28: the error that the call would have ended with. */
  readonly error?: unknown;
  /** The questions of the task to its client, in 2026-07-28. */
  readonly inputRequests?: unknown;
}

/** The answer to a call that has become a task. */
export interface TaskStarted extends Task {
  readonly resultType: 'task';
}

export const isTaskStarted = (result: object): result is TaskStarted =>
  'resultType' in result && result.resultType === 'task';

const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Whether a task has come to its end. */
export const isOver = ({ status }: Pick<Task, 'status'>): boolean => OVER.has(status);

export const TASK_STATUSES: ReadonlySet<unknown> = new Set(['working', 'input_required', ...OVER]);

/** Whether a client says on a request of 2026-07-28 that it takes tasks. */
export function takesTasks(declared: Data | undefined): boolean {
  const extensions = declared?.extensions;
  return isData(extensions) && isData(extensions[TASKS_EXTENSION]);
}

const IN_2025: readonly (readonly [string, string])[] = [
  ['ttlMs', 'ttl'],
  ['pollIntervalMs', 'pollInterval'],
];

function renamed(task: Data, names: typeof IN_2025): Data {
  const entries = Object.entries(task).map(([field, value]): [string, unknown] => [
    names.find(([from]) => from === field)?.[1] ?? field,
    value,
  ]);
  return Object.fromEntries(entries);
}

/** A task as 2025-11-25 writes it, which has its result and its questions elsewhere. */
export function taskIn2025(task: Task): Data {
  const { resultType: _type, result: _result, error: _error, inputRequests: _asked, ...rest } = task as Task & Data;
  return renamed(rest, IN_2025);
}

/** A task that 2025-11-25 has written. */
export const taskOf2025 = (task: Data): Data =>
  renamed(
    task,
    IN_2025.map(([here, there]) => [there, here]),
  );

/** A message, or part of one, with the id of the task that it belongs to changed, where it names one. */
export const withRelatedTask = (value: Data, idOf: (taskId: unknown) => unknown): Data =>
  changed(value, '_meta', (meta) =>
    isData(meta)
      ? changed(meta, RELATED_TASK_META_KEY, (task) => (isData(task) ? changed(task, 'taskId', idOf) : task))
      : meta,
  );
