import { expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { detached, type Invocation } from '../../core/invocation.ts';
import { createCalls } from './calls.ts';
import { mountedServer, type ServerSetup } from './server.ts';
import type { Link } from './wire/link.ts';

it('a call releases its connection if the server refuses the level of log messages', async () => {
  const refusal = new Error('no such level');
  const link = {
    era: 'legacy',
    capabilities: { logging: {} },
    request: () => Promise.reject(refusal),
  } as unknown as Link;
  let leases = 0;
  const connections = {
    async forCall() {
      leases++;
      return { link, own: true, release: () => void leases-- };
    },
  };
  const server = mountedServer({
    calls: createCalls({ text: (text) => text, data: (data) => data, others: () => undefined }),
    connections,
    name: 'notes',
    transport: 'pipe',
  } as unknown as ServerSetup);
  const client = { elicitation: false, sampling: false, roots: false, declared: {}, logLevel: 'debug' } as const;
  const invocation = { ...detached(createContext({ principal: { id: 'somebody' } })), client } as unknown as Invocation;
  await expect(server.callTool({ name: 'look', arguments: {} }, invocation)).rejects.toBe(refusal);
  expect(leases).toBe(0);
});
