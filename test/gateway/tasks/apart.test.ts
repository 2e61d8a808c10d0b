/**
 * Each task belongs to the principal that began it. Others, and an owner who may no longer call its tool, are told that there
 * is no such task.
 */
import { readFile } from 'node:fs/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createVitrine, serveHttp } from '../../../src/index.ts';
import type { AccessRules } from '../../../src/layers/access/index.ts';
import { upstream } from '../../../src/providers/upstream/index.ts';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Connected, connected, DIAGONAL, ERAS, type Era, startHttp, TRANSPORTS } from '../../e2e/harness.ts';
import { PATIENCE_MS, until } from '../../e2e/waiting.ts';
import { bearer, hashOf, RESOURCE } from '../../security/authorization-servers.ts';
import { connectToStranger, startStranger } from '../strangers/link.ts';
import {
  answers,
  ask,
  begin,
  errorOf,
  inState,
  listenTo,
  outcomeOf,
  RELATED,
  release,
  resultOf,
  STATUS,
  toldOf,
} from './asking.ts';

const NO_TASK = { code: -32_602, message: expect.stringContaining('There is no such task') };

const TOKENS = { anna: 'token-of-anna-0123456789abcdef', berta: 'token-of-berta-0123456789abcdef' } as const;

type Name = keyof typeof TOKENS;

async function connectAs(name: Name, era: Era, url: string): Promise<Connected> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: bearer(TOKENS[name]) } });
  const beforeClose = (): Promise<void> => transport.terminateSession();
  return connected(era, transport, {
    reachable: Promise.resolve(),
    beforeClose,
    stderr: () => '',
    abilities: undefined,
  });
}

describe.concurrent.each(ERAS)('two principals with a client each, in the %s era,', (era) => {
  it.each(['shared', 'client'])('see nothing of each other’s tasks (connections: %s)', async (connections) => {
    await using folder = await temporaryFolder();
    await using stranger = await startStranger('tasks', { transport: 'http', era });
    const config = await writeConfig(folder, {
      tools: 'off',
      icons: 'off',
      mounts: { stranger: { ...stranger.mount, connections } },
      auth: {
        resource: RESOURCE,
        tokens: (['anna', 'berta'] as const).map((name) => ({ name, hash: hashOf(TOKENS[name]) })),
      },
      access: { rules: [{ effect: 'allow' }] },
    });
    await using server = await startHttp(['--config', config]);
    await using anna = await connectAs('anna', era, server.url);
    await using berta = await connectAs('berta', era, server.url);
    const ofAnna = await begin(anna, 'slow_compute', { seconds: 3_600 });
    const ofBerta = await begin(berta, 'slow_compute', { seconds: 3_600 });
    const methods =
      era === 'legacy' ? ['tasks/get', 'tasks/result', 'tasks/cancel'] : ['tasks/get', 'tasks/update', 'tasks/cancel'];
    for (const method of methods) {
      const params = { taskId: ofAnna, inputResponses: {} };
      expect(await errorOf(berta, method, params)).toMatchObject(NO_TASK);
    }
    expect(await resultOf(anna, 'tasks/get', { taskId: ofAnna })).toMatchObject({ status: 'working' });
    if (era === 'legacy') {
      for (const [on, own] of [
        [anna, ofAnna],
        [berta, ofBerta],
      ] as const)
        expect(await resultOf(on, 'tasks/list')).toMatchObject({ tasks: [{ taskId: own }] });
    } else expect(await listenTo(berta, [ofAnna, ofBerta])).toEqual({ taskIds: [ofBerta] });
    for (const [on, taskId] of [
      [anna, ofAnna],
      [berta, ofBerta],
    ] as const) {
      await resultOf(on, 'tasks/cancel', { taskId });
      await inState(on, taskId, 'cancelled');
    }
    expect(JSON.stringify(toldOf(berta, STATUS[era]))).not.toContain(ofAnna);
  });

  it('find their tasks after a restart with the same key, as long as they may call the tool', async () => {
    await using stranger = await startStranger('tasks', { transport: 'http', era });
    const target = { url: String(stranger.mount.url) };
    /** A gateway that is always started with the same key. */
    async function within<T>(rules: AccessRules['rules'], act: (on: Connected) => Promise<T>): Promise<T> {
      const { provider, server, ready } = upstream({ name: 'stranger', target });
      await ready(PATIENCE_MS);
      const vitrine = createVitrine({
        mounts: [{ name: 'stranger', provider, server }],
        keys: [Buffer.alloc(32, 7)],
        access: { rules },
      });
      const serving = await serveHttp(vitrine, { port: 0 });
      try {
        await using on = await connectAs('anna', era, serving.url);
        return await act(on);
      } finally {
        await serving.close();
        await vitrine.close();
      }
    }
    const allowed = [{ effect: 'allow' }] as const;
    const taskId = await within(allowed, (on) => begin(on, 'slow_compute', { seconds: 3_600 }));
    await within([...allowed, { effect: 'hide', tools: ['stranger_slow*'] }], async (on) => {
      for (const method of ['tasks/get', 'tasks/cancel'])
        expect(await errorOf(on, method, { taskId })).toMatchObject(NO_TASK);
    });
    await within(allowed, async (on) => {
      expect(await resultOf(on, 'tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
      await resultOf(on, 'tasks/cancel', { taskId });
    });
  });
});

describe.concurrent.each(DIAGONAL)('a client over $transport, $era', (client) => {
  const way = { transport: 'http', era: client.era } as const;

  it('gets results of tasks without forbidden resources, and with secrets covered', async () => {
    await using folder = await temporaryFolder();
    const file = folder.at('audit.jsonl');
    const secret = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`;
    const access = { rules: [{ effect: 'allow' }, { effect: 'hide', uris: ['stranger+thing:///hidden'] }] };
    {
      await using on = await connectToStranger(client, 'tasks', way, {
        around: { access, redact: 'on', audit: { file } },
      });
      const as = crypto.randomUUID();
      const taskId = await begin(on, 'hold', { as });
      await release(on, as, [
        { type: 'text', text: `a token: ${secret}` },
        { type: 'resource_link', uri: 'thing:///hidden', name: 'hidden' },
      ]);
      const outcome = await outcomeOf(on, taskId);
      expect(outcome.content).toEqual([{ type: 'text', text: expect.stringContaining('[redacted: github-token]') }]);
    }
    const lines = (await readFile(file, 'utf8')).split('\n');
    const method = client.era === 'legacy' ? 'tasks/result' : 'tasks/get';
    const line = lines.find((each) => each.includes(`"method":"${method}"`));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ method, name: 'stranger_hold', mount: 'stranger' });
    expect(lines.join()).not.toContain(secret);
  });

  it('gets the error of the server for a task whose program has ended', async () => {
    await using on = await connectToStranger(client, 'tasks', { transport: 'stdio', era: client.era });
    const taskId = await begin(on, 'slow_compute', { seconds: 3_600 });
    await ask(on, 'tools/call', { name: 'stranger_exit', arguments: {} });
    const gone = await until(async () => {
      const { error } = await ask(on, 'tasks/get', { taskId });
      // Other errors come until the program is there again.
      return error?.code === -32_602 && error;
    }, 'the program to be started again');
    expect(gone.message).toContain('I know no task');
    if (client.era === 'legacy') expect(await resultOf(on, 'tasks/list')).toMatchObject({ tasks: [] });
    expect(await begin(on, 'slow_compute')).not.toBe(taskId);
  });

  it('gets a plain result if it requests a task and no server has tasks', async () => {
    await using on = await connectToStranger(client, 'odd', { transport: 'http', era: client.era });
    expect(JSON.stringify(on.client.getServerCapabilities())).not.toContain('tasks');
    const result = await resultOf(on, 'tools/call', { name: 'stranger_tell', arguments: {}, task: { ttl: 1_000 } });
    expect(result).toMatchObject({ content: [{ text: 'known' }, {}] });
  });

  it('gets plain results from a server with tasks of the other era, and no tasks are declared', async () => {
    const era = client.era === 'legacy' ? 'modern' : 'legacy';
    await using on = await connectToStranger(client, 'tasks', { transport: 'http', era });
    expect(JSON.stringify(on.client.getServerCapabilities())).not.toContain('tasks');
    expect(await errorOf(on, 'tasks/get', { taskId: 'any' })).toMatchObject({ code: -32_601 });
    const result = await resultOf(on, 'tools/call', { name: 'stranger_slow_compute', arguments: { label: 'x' } });
    expect(result).toMatchObject({ content: [{ text: 'computed x' }] });
    const asTask = { name: 'stranger_slow_compute', arguments: {}, task: { ttl: 1_000 } };
    expect(await resultOf(on, 'tools/call', asTask)).toMatchObject({ content: [{ text: 'computed ' }] });
  });
});

describe.concurrent.each(TRANSPORTS)('a client of 2026 over %s', (over) => {
  const client = { transport: over, era: 'modern' } as const;

  it.each(TRANSPORTS)('gets the result of a call that a server of 2025 over %s runs as a task', async (transport) => {
    await using on = await connectToStranger(client, 'tasks', { transport, era: 'legacy' });
    const failed = await resultOf(on, 'tools/call', { name: 'stranger_failing_job', arguments: {} });
    expect(failed).toMatchObject({ isError: true, content: [{ text: 'the job failed' }] });
    expect(failed).not.toHaveProperty(['_meta', RELATED]);
    const call = { name: 'stranger_confirm_delete', arguments: { filename: 'b.txt' } };
    const asked = await resultOf(on, 'tools/call', call);
    expect(asked).toMatchObject({ resultType: 'input_required' });
    const [key = ''] = Object.keys(asked.inputRequests as object);
    const { requestState } = asked;
    const done = await resultOf(on, 'tools/call', { ...call, requestState, inputResponses: { [key]: answers('yes') } });
    expect(done).toMatchObject({ content: [{ text: 'b.txt: yes' }] });
  });
});
