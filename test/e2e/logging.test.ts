/** Log messages to the client, and floods of requests that run nothing. */
import {
  Client,
  isJSONRPCNotification,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createVitrine, defineTool, type Invocation, type LoggingLevel, serveHttp } from '../../src/index.ts';
import { temporaryFolder } from './folders.ts';
import { connect, ERAS, type Era, TRANSPORTS } from './harness.ts';

const versionNegotiation = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;

interface Logged {
  readonly level: string;
  readonly data: unknown;
}

/** Gives the messages that a client gets while a tool logs. */
async function logged(
  era: Era,
  level: LoggingLevel | undefined,
  say: (notify: Invocation['notify']) => void,
): Promise<Logged[]> {
  const chatty = defineTool({
    name: 'chatty',
    inputSchema: { type: 'object' },
    run(_args, { notify }) {
      say(notify);
      return 'said';
    },
  });
  const vitrine = createVitrine({ mounts: [], resourceTools: false, tools: [chatty] });
  const serving = await serveHttp(vitrine, { port: 0 });
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: versionNegotiation[era] });
  const transport: Transport = new StreamableHTTPClientTransport(new URL(serving.url));
  try {
    await client.connect(transport);
    if (era === 'legacy' && level !== undefined) await client.setLoggingLevel(level);
    const messages: Logged[] = [];
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if (isJSONRPCNotification(message) && message.method === 'notifications/message')
        messages.push(message.params as unknown as Logged);
      deliver?.(message, extra);
    };
    const _meta = era === 'modern' && level !== undefined ? { 'io.modelcontextprotocol/logLevel': level } : {};
    const params = { name: 'chatty', arguments: {}, _meta };
    await client.request({ method: 'tools/call', params }, z.looseObject({}));
    return messages;
  } finally {
    await client.close();
    await serving.close();
    await vitrine.close();
  }
}

describe.each(ERAS)('log messages to the client, %s', (era) => {
  it('are sent at the requested level, and above [SEC-UTIL-4]', async () => {
    const messages = await logged(era, 'warning', (notify) => {
      for (const level of ['debug', 'info', 'notice', 'warning', 'error', 'emergency'] as const) notify(level, level);
    });
    expect(messages.map(({ level }) => level)).toEqual(['warning', 'error', 'emergency']);
  });

  it('are not counted if they are below the level [SEC-UTIL-4]', async () => {
    const messages = await logged(era, 'error', (notify) => {
      for (let at = 0; at < 150; at++) notify(at % 2 === 0 ? 'debug' : 'warning', at);
      for (let at = 0; at < 150; at++) notify(at % 2 === 0 ? 'error' : 'info', at);
      for (let at = 0; at < 50; at++) notify('alert', at);
    });
    const errors = messages.filter(({ level }) => level === 'error');
    expect([errors.length, messages.length]).toEqual([75, 100]);
    expect(messages.at(-1)).toMatchObject({ level: 'alert', data: 24 });
  });

  it('contain no control characters, however deeply nested [SEC-UTIL-4]', async () => {
    const evil = '\u001b]0;title\u0007\u001b[31mred\u001b[0m\u0000\u202eevil\u2066';
    const messages = await logged(era, 'info', (notify) => {
      notify('info', evil);
      notify('info', { [evil]: [evil, { deep: evil }], count: 3, none: null });
    });
    expect(messages.map(({ data }) => data)).toEqual([
      'redevil',
      { redevil: ['redevil', { deep: 'redevil' }], count: 3, none: null },
    ]);
  });

  it('are limited in length, in depth and in number [SEC-UTIL-4]', async () => {
    const deep = JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`) as unknown;
    const messages = await logged(era, 'info', (notify) => {
      notify('info', 'x'.repeat(1_000_000));
      notify(
        'info',
        Array.from({ length: 10_000 }, () => 'x'),
      );
      notify('info', deep);
      for (let count = 0; count < 10_000; count++) notify('info', count);
    });
    expect(messages).toHaveLength(100);
    expect(JSON.stringify(messages).length).toBeLessThan(30_000);
  });
});

describe.each(TRANSPORTS)('a flood of pings over %s', (transport) => {
  it('is answered, ping by ping, and leaves the server unchanged [SEC-UTIL-4]', async () => {
    await using folder = await temporaryFolder({ 'a.md': 'A' });
    await using on = await connect(transport, 'legacy', [folder.path]);
    for (let batch = 0; batch < 10; batch++) {
      await Promise.all(Array.from({ length: 50 }, () => on.request('ping')));
    }
    expect(await on.request('resources/read', { uri: 'file:///a.md' })).toMatchObject({ contents: [{ text: 'A' }] });
    expect(on.stderr()).not.toContain('"level":50');
  });
});
