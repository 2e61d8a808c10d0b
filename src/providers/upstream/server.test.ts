import { beforeEach, expect, it } from 'vitest';
import type { Data } from '../../connection/data.ts';
import { createContext } from '../../core/context.ts';
import { detached, type Invocation, type LoggingLevel } from '../../core/invocation.ts';
import { createCalls } from './calls.ts';
import { mountedServer, type ServerSetup } from './server.ts';
import type { Link } from './wire/link.ts';

let leases: number;
/** The levels that the server was asked to set. */
let levels: unknown[];
/** Gives the server's answer to the request that sets a level of log messages. */
let setLevel: () => Promise<Data>;

beforeEach(() => {
  leases = 0;
  levels = [];
  setLevel = async () => ({});
});

/** Returns a function that calls a tool for a client with this level of log messages, always over the same connection. */
function caller(): (logLevel: LoggingLevel) => Promise<unknown> {
  const link = {
    era: 'legacy',
    capabilities: { logging: {} },
    request(method: string, { level }: Data) {
      if (method !== 'logging/setLevel') return Promise.resolve({ content: [] });
      levels.push(level);
      return setLevel();
    },
  } as unknown as Link;
  const connections = {
    async forCall() {
      leases++;
      return { link, own: true, release: () => void leases-- };
    },
    all: () => [],
    shared: {},
  };
  const server = mountedServer({
    calls: createCalls({ text: (text) => text, data: (data) => data, others: () => undefined }),
    border: { keep: async (_kind: string, entries: readonly unknown[]) => entries },
    connections,
    name: 'notes',
    transport: 'pipe',
    texts: 'as-is',
    results: 'as-is',
  } as unknown as ServerSetup);
  const ctx = detached(createContext({ principal: { id: 'somebody' } }));
  return (logLevel) => {
    const client = { elicitation: false, sampling: false, roots: false, declared: {}, logLevel };
    const invocation = { ...ctx, client, answers: {} } as unknown as Invocation;
    return server.callTool({ name: 'look', arguments: {} }, invocation);
  };
}

it('a call releases its connection if the server refuses the level of log messages', async () => {
  const refusal = new Error('no such level');
  setLevel = () => Promise.reject(refusal);
  await expect(caller()('debug')).rejects.toBe(refusal);
  expect(leases).toBe(0);
});

it('a level of log messages that the server refused is set again by the next call, and one that it accepted is not', async () => {
  const call = caller();
  setLevel = () => Promise.reject(new Error('not now'));
  await expect(call('debug')).rejects.toThrow('not now');
  await expect(call('debug')).rejects.toThrow('not now');
  setLevel = async () => ({});
  await call('debug');
  await call('debug');
  expect(levels).toEqual(['debug', 'debug', 'debug']);
});

it('after an attempt to set a level has failed, the level before it is set again', async () => {
  const call = caller();
  await call('debug');
  setLevel = () => Promise.reject(new Error('too late'));
  await expect(call('error')).rejects.toThrow('too late');
  setLevel = async () => ({});
  await call('debug');
  expect(levels).toEqual(['debug', 'error', 'debug']);
});

it('two calls at the same time both wait until their level is set', async () => {
  const call = caller();
  setLevel = () => Promise.reject(new Error('not now'));
  const both = await Promise.allSettled([call('debug'), call('debug')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(leases).toBe(0);
});
