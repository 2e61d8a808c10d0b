/** Tasks of a mounted server of another maker, in each era: begin, state, questions, cancellation, notifications. */
import { describe, expect, it } from 'vitest';
import { type Connected, MATRIX, TRANSPORTS } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { answering } from '../fixture/client.ts';
import { connectToStranger } from '../strangers/link.ts';
import {
  answers,
  begin,
  errorOf,
  inState,
  listenTo,
  outcomeOf,
  RELATED,
  release,
  resultOf,
  STATUS,
  TASKS,
  toldOf,
} from './asking.ts';

const INVALID = -32_602;
const NO_METHOD = -32_601;

describe.concurrent.each(MATRIX)('a client over $transport, $era', (client) => {
  describe.each(TRANSPORTS)('with a server over %s that has tasks', (transport) => {
    const connect = (): Promise<Connected> =>
      connectToStranger(client, 'tasks', { transport, era: client.era }, { abilities: answering().abilities });

    it('is told of tasks in the way of its era, and in no other', async () => {
      await using on = await connect();
      const capabilities = on.client.getServerCapabilities() as Record<string, Record<string, unknown>>;
      if (client.era === 'legacy') {
        expect(capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
        expect(capabilities.extensions).not.toHaveProperty([TASKS]);
      } else {
        expect(capabilities).not.toHaveProperty('tasks');
        expect(capabilities.extensions).toHaveProperty([TASKS], {});
      }
      const others = client.era === 'legacy' ? ['tasks/update'] : ['tasks/list', 'tasks/result'];
      for (const method of others)
        expect(await errorOf(on, method, { taskId: 'a' })).toMatchObject({ code: NO_METHOD });
    });

    it('begins a task and gets its result, with the URIs of the mount', async () => {
      await using on = await connect();
      const as = crypto.randomUUID();
      const taskId = await begin(on, 'hold', { as });
      expect(taskId).toMatch(/^stranger_[\w-]+$/);
      const working = await resultOf(on, 'tasks/get', { taskId });
      expect(working).toMatchObject({ taskId, status: 'working', statusMessage: 'at it' });
      expect(working).toMatchObject(
        client.era === 'legacy' ? { ttl: 60_000, pollInterval: 50 } : { ttlMs: 60_000, pollIntervalMs: 50 },
      );
      const link = { type: 'resource_link', uri: 'thing:///one', name: 'one' };
      await release(on, as, [link], { 'x-vendor': 1 });
      const outcome = await outcomeOf(on, taskId);
      expect(outcome).toMatchObject({ content: [{ ...link, uri: 'stranger+thing:///one' }], 'x-vendor': 1 });
      const { [RELATED]: related } = (outcome._meta ?? {}) as Record<string, unknown>;
      expect(related).toEqual(client.era === 'legacy' ? { taskId } : undefined);
      expect(await resultOf(on, 'tasks/get', { taskId })).toMatchObject({ taskId, status: 'completed' });
    });

    it('answers the question of a task, under the id that the gateway gave it', async () => {
      const { abilities, asked } = answering();
      await using on = await connectToStranger(client, 'tasks', { transport, era: client.era }, { abilities });
      const taskId = await begin(on, 'confirm_delete', { filename: 'a.txt' });
      const task = await inState(on, taskId, 'input_required');
      if (client.era === 'modern') {
        expect(task.inputRequests).toMatchObject({ confirm: { method: 'elicitation/create' } });
        const inputResponses = { confirm: answers("client's confirm"), unknown: answers('nothing') };
        expect(await resultOf(on, 'tasks/update', { taskId, inputResponses })).toMatchObject({
          resultType: 'complete',
        });
      }
      expect(await outcomeOf(on, taskId)).toMatchObject({ content: [{ text: "a.txt: client's confirm" }] });
      if (client.era === 'modern') return;
      expect(asked).toEqual(['form: Delete a.txt?']);
      expect(toldOf(on, 'elicitation/create')).toMatchObject([{ _meta: { [RELATED]: { taskId } } }]);
    });

    it('gets the reason why a task failed', async () => {
      await using on = await connect();
      const failing = await begin(on, 'failing_job');
      const broken = await begin(on, 'protocol_error_job');
      const error = { code: -32_603, message: 'the job broke', data: { uri: 'stranger+task:///broken' } };
      if (client.era === 'legacy') {
        expect(await outcomeOf(on, failing)).toMatchObject({ isError: true });
        expect(await errorOf(on, 'tasks/result', { taskId: broken })).toEqual(error);
        expect(await inState(on, broken, 'failed')).not.toHaveProperty('error');
      } else {
        expect(await outcomeOf(on, failing)).toMatchObject({ isError: true });
        expect(await inState(on, broken, 'failed')).toMatchObject({ error });
      }
    });

    it('cancels a task', async () => {
      await using on = await connect();
      const taskId = await begin(on, 'slow_compute', { seconds: 3_600 });
      const cancelled = await resultOf(on, 'tasks/cancel', { taskId });
      if (client.era === 'legacy') expect(cancelled).toMatchObject({ taskId, status: 'cancelled', ttl: 60_000 });
      else expect(cancelled).not.toHaveProperty('taskId');
      await inState(on, taskId, 'cancelled');
      if (client.era === 'modern') await resultOf(on, 'tasks/cancel', { taskId });
      else
        expect(await errorOf(on, 'tasks/cancel', { taskId })).toMatchObject({
          code: INVALID,
          message: 'It is cancelled already',
        });
    });

    it('gets each change of its own tasks, and nothing else', async () => {
      await using on = await connect();
      const as = crypto.randomUUID();
      const taskId = await begin(on, 'hold', { as });
      const other = await begin(on, 'slow_compute', { seconds: 3_600 });
      expect(await listenTo(on, [taskId, 'stranger_unknown'])).toMatchObject({ taskIds: [taskId] });
      if (client.era === 'modern') await resultOf(on, 'tasks/cancel', { taskId: other });
      await release(on, as, [{ type: 'resource_link', uri: 'thing:///two', name: 'two' }]);
      await until(() => toldOf(on, STATUS[client.era]).length > 0, 'the notification');
      const told = toldOf(on, STATUS[client.era]);
      expect(told).toMatchObject([{ taskId, status: 'completed' }]);
      if (client.era === 'modern')
        expect(told[0]).toMatchObject({ result: { content: [{ uri: 'stranger+thing:///two' }] } });
    });

    it('gets the same error for every id that is not a task', async () => {
      await using on = await connect();
      const taskId = await begin(on, 'slow_compute', { seconds: 3_600 });
      const altered = `${taskId.slice(0, -1)}${taskId.endsWith('A') ? 'B' : 'A'}`;
      for (const id of ['unknown', 'stranger_', 'stranger_AAAA', `other${taskId.slice('stranger'.length)}`, altered]) {
        for (const method of ['tasks/get', 'tasks/cancel'] as const)
          expect(await errorOf(on, method, { taskId: id })).toMatchObject({
            code: INVALID,
            message: expect.stringContaining('There is no such task'),
          });
      }
      await resultOf(on, 'tasks/cancel', { taskId });
    });
  });
});

describe.concurrent.each(MATRIX.filter(({ era }) => era === 'legacy'))('a client of 2025 over $transport', (client) => {
  it.each(TRANSPORTS)('lists its tasks of a server over %s, page by page', async (transport) => {
    await using on = await connectToStranger(client, 'tasks', { transport, era: 'legacy' });
    const begun: string[] = [];
    for (let count = 0; count < 25; count++) begun.push(await begin(on, 'slow_compute', { seconds: 3_600 }));
    const listed: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await resultOf(on, 'tasks/list', cursor === undefined ? {} : { cursor });
      listed.push(...(page.tasks as readonly Record<string, unknown>[]).map(({ taskId }) => taskId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(begun);
    expect(await errorOf(on, 'tasks/list', { cursor: 'other' })).toMatchObject({ code: INVALID });
    for (const taskId of begun) await resultOf(on, 'tasks/cancel', { taskId });
  });

  it('sees that a tool can be called only as a task, and gets an error if it calls it otherwise', async () => {
    await using on = await connectToStranger(client, 'tasks', { transport: 'http', era: 'legacy' });
    const { tools } = await resultOf(on, 'tools/list');
    expect(tools).toContainEqual(
      expect.objectContaining({ name: 'stranger_failing_job', execution: { taskSupport: 'required' } }),
    );
    const called = await errorOf(on, 'tools/call', { name: 'stranger_failing_job', arguments: {} });
    expect(called).toMatchObject({ code: NO_METHOD, message: 'failing_job is called as a task' });
  });
});

describe.concurrent.each(MATRIX.filter(({ era }) => era === 'modern'))('a client of 2026 over $transport', (client) => {
  it.each(TRANSPORTS)('that supports no tasks is told to declare them, with a server over %s', async (transport) => {
    await using on = await connectToStranger(client, 'tasks', { transport, era: 'modern' });
    const needed = { code: -32_021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } };
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect(await errorOf(on, method, { taskId: 'any', inputResponses: {} }, {})).toMatchObject(needed);
    const listening = { notifications: { taskIds: ['any'] } };
    expect(await errorOf(on, 'subscriptions/listen', listening, {})).toMatchObject(needed);
    const call = { name: 'stranger_failing_job', arguments: {} };
    expect(await errorOf(on, 'tools/call', call, {})).toMatchObject(needed);
  });
});
