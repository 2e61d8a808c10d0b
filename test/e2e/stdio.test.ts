/** Standard input and output: only messages, one for each line, whatever happens. */
import { appendFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { ERAS, MUSEUM } from './harness.ts';
import { INITIALIZE, type RawStdio, startStdio } from './raw.ts';

/** Fails at a line that is not one JSON-RPC message. */
function expectMessagesOnly({ lines }: RawStdio): void {
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
}

describe.each(ERAS)('standard output, %s', (era) => {
  it('has only messages, even at the lowest log level', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'a', 'line\u2028separator.txt': 'x\ny\r\nz' });
    await using server = startStdio(era, [folder.path, '--log-level', 'debug']);
    if (era === 'legacy') {
      await server.request(1, 'initialize', INITIALIZE);
      server.notify('notifications/initialized');
      await server.request(2, 'resources/subscribe', { uri: 'file:///a.txt' });
      await appendFile(folder.at('a.txt'), '.');
      await server.line(
        (message) => 'method' in message && message.method === 'notifications/resources/updated',
        'the notice of a change',
      );
    }
    await server.request(3, 'resources/list');
    await server.request(4, 'resources/read', { uri: 'file:///' });
    const missing = await server.request(5, 'resources/read', { uri: 'file:///missing' });
    expect(missing.error).toMatchObject({ code: era === 'legacy' ? -32002 : -32602 });
    server.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expectMessagesOnly(server);
    // The log went to standard error, with the refused requests.
    expect(server.stderr()).toContain('request failed');
    for (const line of server.stderr().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('goes on after invalid lines', async () => {
    await using server = startStdio(era, [MUSEUM]);
    if (era === 'legacy') await server.request(1, 'initialize', INITIALIZE);
    else await server.request(1, 'server/discover');
    for (const line of ['', '{', 'hello', '7', 'null', '[]', '{}', '{"jsonrpc":"2.0"}', '\u0000'])
      server.write(`${line}\n`);
    const { result } = await server.request(2, 'resources/list');
    expect(result).toHaveProperty('resources');
    server.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expectMessagesOnly(server);
  });

  it('answers requests that are sent all at once', async () => {
    await using server = startStdio(era, [MUSEUM]);
    if (era === 'legacy') await server.request(1, 'initialize', INITIALIZE);
    else await server.request(1, 'server/discover');
    const answers = [2, 3, 4, 5].map((id) => server.request(id, 'resources/metadata', { uri: 'file:///guide' }));
    for (const { result } of await Promise.all(answers)) expect(result).toHaveProperty('resource');
    server.end();
    await server.exited;
    expectMessagesOnly(server);
  });
});

describe('a host that has died', () => {
  it('does not leave the server behind, although nobody reads its output [RES-7]', async () => {
    await using server = startStdio('legacy', [MUSEUM]);
    await server.request(1, 'initialize', INITIALIZE);
    server.hangUp();
    server.notify('notifications/initialized');
    for (let id = 2; id < 30; id++)
      server.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/list' })}\n`);
    server.end();
    const { code, signal } = await server.exited;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
  });
});
