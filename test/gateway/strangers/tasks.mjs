/** A server whose tools become tasks: as 2025-11-25 has them, and as SEP-2663 has them in 2026-07-28. */
import { randomUUID } from 'node:crypto';
import { CAPABILITIES_KEY, invalid, WireError } from '../fixture/protocol.mjs';

/** @typedef {import('./peer.mjs').Data} Data @typedef {import('./peer.mjs').Call} Call */
/**
 * @typedef {object} Task
 * @property {Data} shown as `tasks/get` of 2026 has it
 * @property {(answers: Data) => void} answered
 * @property {() => void} cancelled
 * @property {Set<() => void>} watchers
 */

const TASKS = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';
const OVER = new Set(['completed', 'failed', 'cancelled']);

/** @type {Map<string, Task>} */
const tasks = new Map();
/** Tasks of `hold` that wait for `release`, by what they are called. @type {Map<string, (result: Data) => void>} */
const held = new Map();

/** @param {string} text @param {Data} [more] */
const said = (text, more = {}) => ({ content: [{ type: 'text', text }], ...more });

/** @param {string} message */
const form = (message) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } } },
  },
});

/** Whether a request declares tasks. @param {Data} client */
const takesTasks = (client) => client.extensions?.[TASKS] !== undefined;

/** @param {number} seconds @param {AbortSignal} signal */
const pause = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });

/**
 * The work of the tools that run as tasks: `ask` waits for answers to all of these.
 * @type {Record<string, (args: Data, signal: AbortSignal, ask: (questions: Data) => Promise<Data>) => Promise<Data>>}
 */
const WORK = {
  async slow_compute({ seconds = 0, label = '' }, signal) {
    await pause(seconds, signal);
    return said(`computed ${label}`);
  },
  async failing_job() {
    return said('the job failed', { isError: true });
  },
  async protocol_error_job() {
    throw new WireError(-32_603, 'the job broke', { uri: 'task:///broken' });
  },
  async confirm_delete({ filename }, _signal, ask) {
    const { confirm } = await ask({ confirm: form(`Delete ${filename}?`) });
    return said(`${filename}: ${confirm.content?.confirm}`);
  },
  async multi_input(_args, _signal, ask) {
    await ask({ first: form('First?'), second: form('Second?') });
    return said('both are known');
  },
  hold: ({ as }) => new Promise((resolve) => held.set(as, resolve)),
  test_tool_with_task: async ({ name }) => said(`Hello, ${name}!`),
};

const REQUIRED = new Set(['failing_job', 'protocol_error_job', 'confirm_delete', 'multi_input', 'test_tool_with_task']);

/** @param {string} name @param {Data} args @param {number | null} ttlMs */
function begin(name, args, ttlMs) {
  const abort = new AbortController();
  const now = new Date().toISOString();
  /** @type {Data} */
  const base = { taskId: randomUUID(), createdAt: now, ttlMs, pollIntervalMs: 50 };
  /** @type {Task} */
  const task = {
    shown: { ...base, status: 'working', statusMessage: 'at it', lastUpdatedAt: now },
    answered: () => {},
    cancelled() {
      become({ status: 'cancelled' });
      abort.abort();
    },
    watchers: new Set(),
  };
  tasks.set(base.taskId, task);
  /** @param {Data} state */
  function become(state) {
    if (OVER.has(task.shown.status)) return;
    task.shown = { ...base, ...state, lastUpdatedAt: new Date().toISOString() };
    for (const watcher of [...task.watchers]) watcher();
  }
  /** @param {Data} questions @returns {Promise<Data>} */
  const ask = (questions) =>
    new Promise((resolve) => {
      const answers = {};
      task.answered = (given) => {
        for (const key of Object.keys(given)) if (key in questions) Object.assign(answers, { [key]: given[key] });
        const open = Object.entries(questions).filter(([key]) => !(key in answers));
        if (open.length > 0) return become({ status: 'input_required', inputRequests: Object.fromEntries(open) });
        become({ status: 'working' });
        resolve(answers);
      };
      become({ status: 'input_required', inputRequests: questions });
    });
  const work = WORK[name]?.(args, abort.signal, ask) ?? Promise.reject(new Error('no such work'));
  work.then(
    (result) => become({ status: 'completed', result }),
    ({ code = -32_603, message, data }) => become({ status: 'failed', error: { code, message, data } }),
  );
  return task;
}

/** @param {Data} params */
function taskOf({ taskId }) {
  const task = tasks.get(taskId);
  if (task === undefined) throw invalid(`I know no task ${taskId}`);
  return task;
}

/** @param {Task} task */
function in2025({ shown }) {
  const { ttlMs, pollIntervalMs, result, error: _error, inputRequests: _asked, status, ...rest } = shown;
  const failed = status === 'completed' && result?.isError === true;
  return { ...rest, status: failed ? 'failed' : status, ttl: ttlMs, pollInterval: pollIntervalMs };
}

/** @param {Call} call */
async function callIn2026({ params, client }) {
  const { name, arguments: args = {} } = params;
  if (!takesTasks(client)) {
    if (REQUIRED.has(name)) throw missingCapability();
    return WORK[name]?.(args, new AbortController().signal, async () => ({}));
  }
  if (name === 'test_tool_with_task') {
    const answer = params.inputResponses?.user_name;
    if (answer === undefined) {
      return { resultType: 'input_required', inputRequests: { user_name: form('Who?') }, requestState: 'asked' };
    }
    return { ...begin(name, { name: answer.content?.name }, 60_000).shown, resultType: 'task' };
  }
  return { ...begin(name, args, 60_000).shown, resultType: 'task' };
}

const missingCapability = () =>
  new WireError(-32_021, 'Missing required client capability', {
    requiredCapabilities: { extensions: { [TASKS]: {} } },
  });

/** @param {Call} call */
function callIn2025({ params, tell }) {
  const { name, arguments: args = {}, task } = params;
  if (task === undefined) {
    if (REQUIRED.has(name)) throw new WireError(-32_601, `${name} is called as a task`);
    return WORK[name]?.(args, new AbortController().signal, async () => ({}));
  }
  const begun = begin(name, args, task.ttl ?? null);
  begun.watchers.add(() => tell('notifications/tasks/status', in2025(begun)));
  return { task: in2025(begun) };
}

/** @param {Call} call */
async function resultIn2025({ params, ask }) {
  const task = taskOf(params);
  const _meta = { [RELATED]: { taskId: params.taskId } };
  while (!OVER.has(task.shown.status)) {
    const changed = new Promise((resolve) => task.watchers.add(() => resolve(undefined)));
    const asked = task.shown.inputRequests ?? {};
    const answers = Object.entries(asked).map(async ([key, request]) => [
      key,
      await ask(request.method, { ...request.params, _meta }),
    ]);
    if (answers.length > 0) task.answered(Object.fromEntries(await Promise.all(answers)));
    else await changed;
  }
  const { status, result, error } = task.shown;
  if (status === 'failed') throw new WireError(error.code, error.message, error.data);
  return status === 'cancelled' ? said('cancelled', { isError: true, _meta }) : { ...result, _meta };
}

/** @param {Call} call @param {() => Data | Promise<Data>} work */
function gated({ modern, client }, work) {
  if (modern && !takesTasks(client)) throw missingCapability();
  return work();
}

/** @type {import('./peer.mjs').Stranger} */
export const stranger = {
  identity: { name: 'tasks', version: '1.0.0' },
  capabilities: (modern) => ({
    tools: {},
    ...(modern
      ? { extensions: { [TASKS]: {} } }
      : { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
  }),
  methods: {
    'tools/list': ({ modern }) => ({
      tools: ['greet', 'release', ...Object.keys(WORK)].map((name) => ({
        name,
        inputSchema: { type: 'object' },
        ...(!modern && name in WORK && { execution: { taskSupport: REQUIRED.has(name) ? 'required' : 'optional' } }),
      })),
    }),
    'tools/call': (call) => {
      const { name, arguments: args = {} } = call.params;
      if (name === 'greet') return said(`Hello, ${args.name}!`);
      if (name === 'exit') process.exit(3);
      if (name === 'release') {
        held.get(args.as)?.({ content: args.content, ...args.more });
        return said(held.delete(args.as) ? 'released' : 'nothing is held');
      }
      return call.modern ? callIn2026(call) : callIn2025(call);
    },
    'tasks/get': (call) => gated(call, () => (call.modern ? taskOf(call.params).shown : in2025(taskOf(call.params)))),
    'tasks/update': (call) =>
      gated(call, () => {
        if (!call.modern) throw new WireError(-32_601, 'Method not found');
        taskOf(call.params).answered(call.params.inputResponses);
        return {};
      }),
    'tasks/cancel': (call) =>
      gated(call, () => {
        const task = taskOf(call.params);
        if (!call.modern && OVER.has(task.shown.status)) throw invalid(`It is ${task.shown.status} already`);
        task.cancelled();
        return call.modern ? {} : in2025(task);
      }),
    'tasks/list': ({ modern }) => {
      if (modern) throw new WireError(-32_601, 'Method not found');
      return { tasks: [...tasks.values()].map(in2025) };
    },
    'tasks/result': (call) => {
      if (call.modern) throw new WireError(-32_601, 'Method not found');
      return resultIn2025(call);
    },
  },
  listen({ params, tell }) {
    const ids = params.notifications?.taskIds ?? [];
    if (ids.length === 0) return {};
    if (!takesTasks(params._meta?.[CAPABILITIES_KEY] ?? {})) throw missingCapability();
    const known = ids.filter((/** @type {string} */ id) => tasks.has(id));
    for (const id of known) {
      const task = tasks.get(id);
      task?.watchers.add(() => tell('notifications/tasks', task.shown));
    }
    return { taskIds: known };
  },
};
