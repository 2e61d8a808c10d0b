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

/** A server of 2025 that only greets. */
const GREETER = `
  process.stdin.on('data', (data) => {
    for (const line of String(data).trim().split('\\n')) {
      const { id, method, params } = JSON.parse(line);
      if (method !== 'initialize') continue;
      const { protocolVersion } = params;
      const result = { protocolVersion, capabilities: {}, serverInfo: { name: 'greeter', version: '1.0.0' } };
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
    }
  });
`;

it('calls that wait for a read whose client has gone never share the program that it leaves', async () => {
  const idle = { list: async () => ({}), restore() {}, missed() {}, close: async () => {} } as unknown as Watching;
  const events = { watching: () => idle, opened() {}, up() {} } as unknown as ConnectionEvents;
  const target = { command: process.execPath, args: ['--eval', GREETER] };
  const connections = createConnections({ name: 'up', target, era: '2025' }, events);
  try {
    const client = { elicitation: true, sampling: false, roots: false, declared: { elicitation: {} } };
    const ctx = createContext({ client });
    const read = await connections.forCall(ctx);
    read.leave?.();
    const waiting = [connections.forCall(ctx), connections.forCall(ctx)];
    await new Promise(setImmediate);
    read.release(true);
    const links = (await Promise.all(waiting)).map(({ link }) => link);
    // A fresh connection, for a client that wants log messages, is lent to nobody after it.
    const fresh = await connections.forCall(createContext({ client: { ...client, logLevel: 'info' } }));
    expect(fresh.leave).toBeUndefined();
    expect(links[0] === links[1]).toBe(false);
    expect(links.includes(read.link)).toBe(true);
  } finally {
    await connections.close();
  }
});
