/** The era in which a client reaches a server of both eras that asks its client only in 2025. */
import { describe, expect, it } from 'vitest';
import { round } from '../../e2e/asking.ts';
import { type Connected, ERAS, TRANSPORTS } from '../../e2e/harness.ts';
import { until } from '../../e2e/waiting.ts';
import { notified } from '../fixture/asking.ts';
import { answering } from '../fixture/client.ts';
import { connectToStranger } from './link.ts';

const call = async (on: Connected, name: string): Promise<string> =>
  JSON.stringify((await on.request('tools/call', { name: `stranger_${name}`, arguments: {} })).content);

describe.concurrent.each(TRANSPORTS)('a client over %s', (over) => {
  it.each(TRANSPORTS)('of 2025 gets every question of a server of both eras over %s', async (transport) => {
    const { abilities, asked } = answering();
    const client = { transport: over, era: 'legacy' } as const;
    await using on = await connectToStranger(client, 'asking', { transport, era: 'both' }, { abilities });
    expect(await call(on, 'era')).toContain('2025');
    expect(await call(on, 'elicitation-create')).toContain("client's word");
    expect(await call(on, 'sampling-createMessage')).toContain('client wrote: Write');
    expect(await call(on, 'roots-list')).toContain('file:///client/a%20b');
    expect(JSON.stringify(await on.request('prompts/get', { name: 'stranger_asks' }))).toContain("client's word");
    const read = await on.request('resources/read', { uri: 'stranger+thing:///asks' });
    expect(JSON.stringify(read)).toContain("client's word");
    expect(asked.map((each) => each.split(':')[0])).toEqual(['form', 'model', 'roots', 'form', 'form']);
  });

  it.each(TRANSPORTS)(
    'of 2025 gets log messages of a server of both eras over %s that logs without a requested level',
    async (transport) => {
      const client = { transport: over, era: 'legacy' } as const;
      await using on = await connectToStranger(client, 'asking', { transport, era: 'both' });
      await on.reachable;
      expect(await call(on, 'log')).toContain('logged');
      await until(() => notified(on, 'notifications/message').length > 0, 'the log message');
      expect(notified(on, 'notifications/message')[0]).toMatchObject({ level: 'warning', data: 'the glass is thin' });
    },
  );

  it.each(TRANSPORTS)('of 2025 uses a server over %s that has only 2026', async (transport) => {
    const { abilities } = answering();
    const client = { transport: over, era: 'legacy' } as const;
    await using on = await connectToStranger(client, 'asking', { transport, era: 'modern' }, { abilities });
    expect(await call(on, 'era')).toContain('2026');
    expect(await call(on, 'era')).toContain('2026');
    expect((await on.request<{ resources: readonly unknown[] }>('resources/list')).resources).toHaveLength(1);
  });

  it.each(TRANSPORTS)('of either era uses a server of both eras over %s in the era of its mount', async (transport) => {
    const { abilities } = answering();
    for (const era of ERAS) {
      for (const said of ['2025', '2026'] as const) {
        const way = { transport, era: 'both' } as const;
        await using on = await connectToStranger({ transport: over, era }, 'asking', way, { abilities, era: said });
        expect(await call(on, 'era')).toContain(said);
      }
    }
  });
});

describe.concurrent.each(TRANSPORTS)('a client of 2026 over %s', (over) => {
  it.each(TRANSPORTS)('uses 2026 with a server of both eras over %s', async (transport) => {
    const { abilities } = answering();
    const client = { transport: over, era: 'modern' } as const;
    await using on = await connectToStranger(client, 'asking', { transport, era: 'both' }, { abilities });
    expect(await call(on, 'era')).toContain('2026');
  });

  it.each(TRANSPORTS)('is asked by a server over %s whose mount names 2025', async (transport) => {
    const { abilities } = answering();
    const client = { transport: over, era: 'modern' } as const;
    const way = { transport, era: 'both' } as const;
    await using on = await connectToStranger(client, 'asking', way, { abilities, era: '2025' });
    expect(await call(on, 'elicitation-create')).toContain("client's word");
    const read = await on.request('resources/read', { uri: 'stranger+thing:///asks' });
    expect(JSON.stringify(read)).toContain("client's word");
  });

  it.each(TRANSPORTS)('gets `params` in a question that a server over %s sends without `params`', async (transport) => {
    const { abilities } = answering();
    const client = { transport: over, era: 'modern' } as const;
    const options = { abilities: { ...abilities, inputRequired: { autoFulfill: false } }, era: '2025' } as const;
    await using on = await connectToStranger(client, 'asking', { transport, era: 'legacy' }, options);
    await on.reachable;
    const { inputRequests } = await round(on, 'tools/call', { name: 'stranger_roots-list', arguments: {} });
    expect(Object.values(inputRequests ?? {})).toEqual([{ method: 'roots/list', params: {} }]);
  });
});
