import { expect, it, vi } from 'vitest';
import { createContext } from '../../core/context.ts';
import { type ConnectionEvents, createConnections } from './connections.ts';
import type { Watching } from './watching.ts';

it('once the connections are closed, a watch is refused and starts no program', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  try {
    const events = {
      watching: (supervisor) => {
        const list: Watching['list'] = async () => {
          const kept = supervisor.keep();
          return { [Symbol.asyncDispose]: async () => kept[Symbol.dispose]() };
        };
        return { list, close: async () => {} } as unknown as Watching;
      },
    } as ConnectionEvents;
    const target = { command: process.execPath, args: ['--eval', ''] };
    const connections = createConnections({ name: 'up', target, era: '2025' }, events);
    const client = { elicitation: true, sampling: false, roots: false, declared: { elicitation: {} } };
    await connections.close();
    const watch = connections.watchList('tools', () => {}, createContext({ peer: 'a session', client }));
    await expect(watch).rejects.toMatchObject({ code: 'unavailable' });
    expect(connections.all()).toEqual([connections.shared]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
