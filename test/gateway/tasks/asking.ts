/** A client that begins tasks, in the way of its era. It sends raw messages, because the SDK's client has no tasks. */
import { type JSONRPCMessage, SdkHttpError } from '@modelcontextprotocol/client';
import type { Connected } from '../../e2e/harness.ts';
import { type Answer, ENVELOPE } from '../../e2e/raw.ts';
import { until, within } from '../../e2e/waiting.ts';

type Data = Readonly<Record<string, unknown>>;

export const TASKS = 'io.modelcontextprotocol/tasks';
export const RELATED = 'io.modelcontextprotocol/related-task';

/** The answer of a user to a form with the field `confirm`. */
export const answers = (confirm: unknown): Data => ({ action: 'accept', content: { confirm } });

/** The capabilities of a client of 2026 that supports tasks and questions. */
const DECLARED = { elicitation: {}, extensions: { [TASKS]: {} } };

let sent = 0;

const envelope = (declares: Data): Data => ({
  ...ENVELOPE,
  'io.modelcontextprotocol/clientCapabilities': declares,
});

/** Sends a raw message past the SDK's client. */
async function send(on: Connected, message: Data, declares: Data): Promise<void> {
  const { params = {} } = message as { readonly params?: Data };
  const whole =
    on.era === 'modern' ? { ...params, _meta: { ...(params._meta as object), ...envelope(declares) } } : params;
  await on.client.transport?.send({ jsonrpc: '2.0', ...message, params: whole } as JSONRPCMessage);
}

/** The message that answers a request. @param declares the capabilities that a client of 2026 declares */
export async function ask(
  on: Connected,
  method: string,
  params: Data = {},
  declares: Data = DECLARED,
): Promise<Pick<Answer, 'result' | 'error'>> {
  const id = `asked-${++sent}`;
  const answered = new Promise<Answer>((resolve) => {
    on.onMessage((message) => {
      if ('id' in message && message.id === id && !('method' in message)) resolve(message as unknown as Answer);
    });
  });
  try {
    await send(on, { id, method, params }, declares);
  } catch (error) {
    // Over HTTP the SDK throws an answer with status 404.
    if (!(error instanceof SdkHttpError)) throw error;
    return JSON.parse(error.message.slice(error.message.indexOf('{'))) as Answer;
  }
  return within(answered, `the answer to ${method}`);
}

/** The result of a request. */
export async function resultOf(on: Connected, method: string, params: Data = {}): Promise<Data> {
  const { result, error } = await ask(on, method, params);
  if (result === undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
  return result;
}

/** The error of a request. */
export async function errorOf(on: Connected, method: string, params: Data = {}, declares?: Data) {
  const { result, error } = await ask(on, method, params, declares);
  if (error === undefined) throw new Error(`${method} succeeded: ${JSON.stringify(result)}`);
  return error;
}

/** Calls a tool of the mount as a task. Gives the id. */
export async function begin(on: Connected, tool: string, args: Data = {}, ttl = 60_000): Promise<string> {
  const asTask = on.era === 'legacy' && { task: { ttl } };
  const result = await resultOf(on, 'tools/call', { name: `stranger_${tool}`, arguments: args, ...asTask });
  const task = (on.era === 'legacy' ? result.task : result) as Data;
  if (typeof task?.taskId !== 'string') throw new Error(`No task has begun: ${JSON.stringify(result)}`);
  return task.taskId;
}

/** Asks for the state of a task until it is the given one. Gives the task. */
export const inState = (on: Connected, taskId: string, status: string): Promise<Data> =>
  until(async () => {
    const task = await resultOf(on, 'tasks/get', { taskId });
    return task.status === status && task;
  }, `the task to be ${status}`);

/** Waits until a task has ended, and gives its outcome, in the way of the era. */
export async function outcomeOf(on: Connected, taskId: string): Promise<Data> {
  if (on.era === 'legacy') return resultOf(on, 'tasks/result', { taskId });
  return (await inState(on, taskId, 'completed')).result as Data;
}

/** Lets `hold` continue with a result. */
export const release = (on: Connected, as: string, content: readonly Data[], more: Data = {}): Promise<Data> =>
  resultOf(on, 'tools/call', { name: 'stranger_release', arguments: { as, content, more } });

/** Collects notifications of tasks: unasked in 2025, over a stream in 2026. Resolves when notifications can come. */
export async function listenTo(on: Connected, taskIds: readonly string[]): Promise<Data> {
  await on.reachable;
  if (on.era === 'legacy') return { taskIds: taskIds.slice(0, 1) };
  const id = `asked-${++sent}`;
  void send(on, { id, method: 'subscriptions/listen', params: { notifications: { taskIds } } }, DECLARED);
  return until(() => {
    const found = toldOf(on, 'notifications/subscriptions/acknowledged').find(
      ({ _meta }) => (_meta as Data)['io.modelcontextprotocol/subscriptionId'] === id,
    );
    return found?.notifications as Data | undefined;
  }, 'the stream to be acknowledged');
}

/** Gives the parameters of the notifications of one kind, in order. */
export const toldOf = (on: Connected, method: string): readonly Data[] =>
  on.received.flatMap((message) => ('method' in message && message.method === method ? [message.params as Data] : []));

/** The notification of the client's era. */
export const STATUS = { legacy: 'notifications/tasks/status', modern: 'notifications/tasks' } as const;
