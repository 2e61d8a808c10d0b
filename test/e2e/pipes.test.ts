/** All requests are written at once, and the input is closed: the answers still come, and the process ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { CLI, MUSEUM } from './harness.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
};

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'pipe', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function pipe(messages: readonly object[]): Promise<{ ids: readonly unknown[]; code: number | null }> {
  const child = spawn(process.execPath, [CLI, 'serve', MUSEUM], { stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  const [code] = (await once(child, 'close')) as [number | null];
  const ids = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: unknown; result?: unknown })
    .filter((message) => message.result !== undefined)
    .map((message) => message.id);
  return { ids, code };
}

describe('a pipe into stdio', () => {
  it('gets all answers, in the 2025 era', async () => {
    const list = { jsonrpc: '2.0', id: 2, method: 'resources/list' };
    const read = { jsonrpc: '2.0', id: 3, method: 'resources/read', params: { uri: 'file:///README.md' } };
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const { ids, code } = await pipe([INITIALIZE, initialized, list, read]);
    expect([...ids].sort()).toEqual([1, 2, 3]);
    expect(code).toBe(0);
  });

  it('gets all answers, in 2026-07-28; a listen stream does not keep the process running', async () => {
    const request = (id: number, method: string, params: object = {}): object => ({
      jsonrpc: '2.0',
      id,
      method,
      params: { ...params, _meta: envelope },
    });
    const { ids, code } = await pipe([
      request(1, 'resources/list'),
      request(2, 'subscriptions/listen', { notifications: { resourceSubscriptions: ['file:///README.md'] } }),
      request(3, 'resources/read', { uri: 'file:///README.md' }),
    ]);
    expect(ids).toEqual(expect.arrayContaining([1, 3]));
    expect(code).toBe(0);
  });
});
