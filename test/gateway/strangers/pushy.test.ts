/** A server that asks questions which its client has not declared: the client does not get them, and the server gets an error. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { TRANSPORTS } from '../../e2e/harness.ts';
import { INITIALIZE, startPipe } from '../../e2e/raw.ts';
import { startStranger } from './link.ts';

const REFUSED = {
  'roots/list': -32_601,
  'sampling/createMessage': -32_601,
  'elicitation/create': -32_601,
  'elicitation/unheard-of': -32_601,
  'tools/call': -32_601,
};

/** Capabilities that a client can declare, and the questions that it may then get. */
const CLIENTS: readonly { declares: string; capabilities: object; asked: readonly string[] }[] = [
  { declares: 'nothing', capabilities: {}, asked: [] },
  { declares: 'a null', capabilities: { roots: null }, asked: [] },
  { declares: 'roots', capabilities: { roots: {} }, asked: ['roots/list'] },
  { declares: 'forms by naming no mode', capabilities: { elicitation: {} }, asked: ['elicitation/create'] },
  { declares: 'pages alone', capabilities: { elicitation: { url: {} } }, asked: [] },
];

describe.concurrent.each(TRANSPORTS)('over %s, a server that asks every client', (transport) => {
  it.each(CLIENTS)('asks a client of 2025 only what that declares: $declares', async ({ capabilities, asked }) => {
    await using folder = await temporaryFolder();
    await using server = await startStranger('pushy', { transport, era: 'legacy' });
    const config = await writeConfig(folder, { icons: 'off', tools: 'off', mounts: { up: server.mount } });
    await using gateway = startPipe('legacy', ['--config', config]);
    // The test answers each question, as a client does.
    const answering = answers(gateway);
    await gateway.request(1, 'initialize', { ...INITIALIZE, capabilities });
    gateway.notify('notifications/initialized');
    const call = async (id: number, name: string): Promise<object> => {
      return told(await gateway.request(id, 'tools/call', { name: `up_${name}`, arguments: {} }));
    };
    const expected = { ...REFUSED, ...Object.fromEntries(asked.map((method) => [method, 'answered'])) };
    expect(await call(1_002, 'now')).toEqual(expected);
    const early = await call(1_003, 'early');
    // Behind a URL, questions are allowed only during a call, so these are refused with another error.
    expect(Object.keys(early)).toEqual(Object.keys(REFUSED));
    if (transport === 'stdio') expect(early).toEqual(expected);
    expect(answering.stop().filter((method) => !asked.includes(method))).toEqual([]);
  });

  it('gets no answer from a client of 2026 without capabilities, and gives it a result', async () => {
    await using folder = await temporaryFolder();
    await using server = await startStranger('pushy', { transport, era: 'legacy' });
    const config = await writeConfig(folder, { icons: 'off', tools: 'off', mounts: { up: server.mount } });
    await using gateway = startPipe('modern', ['--config', config]);
    const answer = await gateway.request(1, 'tools/call', { name: 'up_now', arguments: {} });
    expect(Object.values(told(answer))).not.toContain('answered');
  });
});

/** The server reports the outcome of each of its questions. */
function told({ result }: Awaited<ReturnType<ReturnType<typeof startPipe>['request']>>): object {
  const { content } = result as { content: readonly [{ readonly text: string }] };
  return JSON.parse(content[0].text) as object;
}

/** Answers the questions to the client. */
function answers({ lines, write }: ReturnType<typeof startPipe>): { stop(): readonly string[] } {
  const methods: string[] = [];
  let seen = 0;
  const timer = setInterval(() => {
    for (const line of lines.slice(seen)) {
      seen++;
      const { id, method } = JSON.parse(line) as { id?: number; method?: string };
      if (method === undefined || id === undefined) continue;
      methods.push(method);
      const result = method === 'roots/list' ? { roots: [] } : { action: 'decline' };
      write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
    }
  }, 10);
  return {
    stop() {
      clearInterval(timer);
      return methods;
    },
  };
}
