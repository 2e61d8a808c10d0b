/** Unknown fields go through the gateway unchanged, and the gateway invents nothing. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { type Connected, connectHttp, DIAGONAL, ERAS, MATRIX, startHttp } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { notified } from '../fixture/asking.ts';
import { connectToStranger, startStranger, WAYS } from './link.ts';

const VENDOR = { 'vendor.example/deep': { er: [1, null] } };
const MORE = { _meta: VENDOR, 'x-vendor': ['kept', { as: 'it came' }] };

type Data = Readonly<Record<string, unknown>>;

/** The raw result, because clients with strict schemas refuse unknown fields. */
async function sent(on: Connected, method: string, params: Record<string, unknown> = {}): Promise<Data> {
  await on.request(method, params).catch(() => {});
  const answer = on.received.findLast((message) => !('method' in message)) as { readonly result?: Data } | undefined;
  return answer?.result ?? {};
}

describe.concurrent.each(MATRIX)('a client over $transport, $era', (client) => {
  it.each(WAYS)('gets all fields of a server over $transport, $era [2093-11]', async (way) => {
    await using on = await connectToStranger(client, 'odd', way);
    await on.reachable;
    const logs = client.era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'debug' } : {};
    const _meta = { progressToken: 'mine', ...logs };
    if (client.era === 'legacy') await on.request('logging/setLevel', { level: 'debug' });
    const called = await sent(on, 'tools/call', { name: 'stranger_tell', arguments: {}, _meta });
    expect(called).toMatchObject({
      content: [
        { type: 'text', text: 'known', ...MORE },
        { type: 'hologram', depth: 3, layers: [{ of: 'light' }], ...MORE },
      ],
      ...MORE,
    });
    await until(() => notified(on, 'notifications/message').length > 1, 'the log messages');
    const [first, second] = notified(on, 'notifications/message');
    expect(first).toMatchObject({ level: 'error', data: { a: 1 }, ...MORE });
    expect(first).not.toHaveProperty('logger');
    expect(second).toMatchObject({ logger: 'mine', data: 'b' });
    expect(notified(on, 'notifications/progress')).toEqual([
      { progressToken: 'mine', progress: 1, total: 2, message: 'half', ...MORE },
    ]);
    const got = [
      await sent(on, 'tools/list'),
      await sent(on, 'resources/list'),
      await sent(on, 'resources/read', { uri: 'stranger+odd:///one' }),
      await sent(on, 'prompts/list'),
      await sent(on, 'prompts/get', { name: 'stranger_one' }),
    ];
    for (const { tools, resources, contents, prompts, messages } of got) {
      const entries = [tools, resources, contents, prompts, messages].find(Array.isArray) ?? [];
      expect(entries).toHaveLength(1);
      expect(entries[0]).toMatchObject(MORE);
    }
    const results = JSON.stringify([called, ...got]);
    if (client.era === 'legacy') expect(results).not.toMatch(/resultType|serverInfo|ttlMs|cacheScope/);
    expect(got[4]?.messages).toMatchObject([{ content: { type: 'vendor.example/hologram', depth: 3, ...MORE } }]);
  });
});

describe.each(DIAGONAL)('instructions of a server over $transport, $era that starts late', (way) => {
  it('reach later clients', async () => {
    await using server = await startStranger('odd', way);
    await using folder = await temporaryFolder({});
    const mounts = { late: { ...server.mount, start: 'lazy' } };
    const config = await writeConfig(folder, { tools: 'off', mounts });
    await using gateway = await startHttp(['--config', config]);
    await using early = await connectHttp('modern', gateway);
    expect(early.client.getInstructions()).toBeUndefined();
    await early.request('tools/list');
    expect((await early.client.discover()).instructions).toContain('Look at every piece twice.');
    for (const era of ERAS) {
      await using later = await connectHttp(era, gateway);
      expect(later.client.getInstructions()).toContain('Look at every piece twice.');
    }
  });
});
