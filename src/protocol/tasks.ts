/**
 * Tasks: work that a tool call begins, and that continues after the call was answered. In 2025-11-25 they are in the
 * core protocol; for 2026-07-28 they are an extension (SEP-2663) with other names for two fields. These types use the
 * extension's names.
 */
import { changed, type Data, isData } from './data.ts';

/** The key in `capabilities.extensions` of servers and clients of 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The key in the `_meta` of messages of a task, in 2025-11-25: `{taskId}`. */
export const RELATED_TASK_META_KEY = 'io.modelcontextprotocol/related-task';

/** The revision of the 2025 era that has tasks. */
export const TASKS_REVISION = '2025-11-25';

/** The most characters of an id from a client. */
export const MAX_TASK_ID = 8_192;

export type TaskMethod = 'tasks/get' | 'tasks/result' | 'tasks/update' | 'tasks/cancel';

/** A task, with all fields that its server sent: `ttlMs`, `createdAt`, `statusMessage` and others are passed on. */
export interface Task {
  readonly taskId: string;
  readonly status: string;
  /** The result of a completed task, in 2026-07-28. */
  readonly result?: unknown;
  /** The error of a failed task, in 2026-07-28. */
  readonly error?: unknown;
  /** The questions that the task asks its client, in 2026-07-28. */
  readonly inputRequests?: unknown;
}

/** The answer to a call that has become a task. */
export interface TaskStarted extends Task {
  readonly resultType: 'task';
}

export const isTaskStarted = (result: object): result is TaskStarted =>
  'resultType' in result && result.resultType === 'task';

const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Whether a task has ended. */
export const isOver = ({ status }: Pick<Task, 'status'>): boolean => OVER.has(status);

export const TASK_STATUSES: ReadonlySet<unknown> = new Set(['working', 'input_required', ...OVER]);

/** Whether a client declares on a request of 2026-07-28 that it supports tasks. */
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

/** Converts a task to 2025-11-25, where the result and the questions are in other messages. */
export function taskIn2025(task: Task): Data {
  const { resultType: _type, result: _result, error: _error, inputRequests: _asked, ...rest } = task as Task & Data;
  return renamed(rest, IN_2025);
}

/** Converts a task from 2025-11-25. */
export const taskOf2025 = (task: Data): Data =>
  renamed(
    task,
    IN_2025.map(([here, there]) => [there, here]),
  );

/** Replaces the task id in a message, or in a part of one, if it has one. */
export const withRelatedTask = (value: Data, idOf: (taskId: unknown) => unknown): Data =>
  changed(value, '_meta', (meta) =>
    isData(meta)
      ? changed(meta, RELATED_TASK_META_KEY, (task) => (isData(task) ? changed(task, 'taskId', idOf) : task))
      : meta,
  );
