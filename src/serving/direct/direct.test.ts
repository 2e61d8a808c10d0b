/** The direct path adds speed and no behaviour: what it answers is what the SDK's own path answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext, SILENT } from '../../core/context.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { createVitrine, type Vitrine } from '../../vitrine.ts';
import { createModern, type Modern } from '../modern/index.ts';
import { createDirect, type Direct } from './index.ts';

const ENDPOINT = 'http://127.0.0.1/mcp';

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Message {
  readonly jsonrpc: string;
  readonly id?: unknown;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

function message(method: string, params: object = {}, meta: object = {}): Message {
  return { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: { ...envelope, ...meta } } };
}

function requestOf(sent: Message, headers: Record<string, string> = {}): Request {
  const named = typeof sent.params.uri === 'string' ? { 'Mcp-Name': sent.params.uri } : {};
  return new Request(ENDPOINT, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': sent.method,
      ...named,
      ...headers,
    },
    body: JSON.stringify(sent),
  });
}

const README = 'memory:///guide/readme.md';

describe('the direct path', () => {
  let engine: Vitrine;
  let direct: Direct;
  let modern: Modern;
  beforeAll(() => {
    const provider = memoryProvider({
      resources: {
        'guide/readme.md': { text: '# Read me', annotations: { lastModified: '2026-01-01T00:00:00.000Z' } },
        'picture.png': { bytes: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a) },
      },
    });
    engine = createVitrine({ mounts: [{ name: 'memory', provider, prefix: 'none' }] });
    direct = createDirect(engine, SILENT);
    modern = createModern(engine, SILENT);
  });
  afterAll(async () => {
    await modern.close();
    await engine.close();
  });

  it.each([
    ['a read', message('resources/read', { uri: README })],
    ['a read of binary content', message('resources/read', { uri: 'memory:///picture.png' })],
    ['a read of a folder', message('resources/read', { uri: 'memory:///guide' })],
    ['a window', message('resources/read', { uri: README }, { 'vitrine/range': { offset: 2, length: 4 } })],
    ['a missing resource', message('resources/read', { uri: 'memory:///nope' })],
    ['a malformed URI', message('resources/read', { uri: 'memory:///a/../b' })],
    ['metadata', message('resources/metadata', { uri: README })],
    ['children', message('resources/list', { uri: 'memory:///guide' })],
    ['children of a leaf', message('resources/list', { uri: README })],
    ['the default list', message('resources/list')],
    ['a garbage cursor', message('resources/list', { cursor: 'garbage' })],
    ['a directory', message('resources/directory/read', { uri: 'memory:///' })],
    ['templates', message('resources/templates/list')],
    ['tools', message('tools/list')],
  ])('answers %s as the SDK does', async (_name, sent) => {
    const answer = await direct.answer(requestOf(sent), sent);
    const expected = await modern.handle(requestOf(sent), sent);
    expect(answer).toBeDefined();
    expect(answer?.status).toBe(expected.status);
    expect(answer?.headers.get('content-type')).toBe(expected.headers.get('content-type'));
    expect(await answer?.json()).toEqual(await expected.json());
  });

  const read = message('resources/read', { uri: README });
  it.each<[string, Message, Record<string, string>?]>([
    ['another revision in a header', read, { 'MCP-Protocol-Version': '2025-11-25' }],
    ['another method in a header', read, { 'Mcp-Method': 'resources/list' }],
    ['another name in a header', read, { 'Mcp-Name': 'memory:///other' }],
    ['an encoded name in a header', read, { 'Mcp-Name': '=?base64?bWVtb3J5Oi8vLw==?=' }],
    ['a client that takes no stream', read, { Accept: 'application/json' }],
    ['progress that is asked for', message('resources/read', { uri: README }, { progressToken: 1 })],
    [
      'log messages that are asked for',
      message('resources/read', { uri: README }, { 'io.modelcontextprotocol/logLevel': 'debug' }),
    ],
    ['answers to a question', message('resources/read', { uri: README, inputResponses: {} })],
    [
      'another revision in the envelope',
      message('resources/read', { uri: README }, { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }),
    ],
    ['a broken envelope', message('resources/read', { uri: README }, { 'io.modelcontextprotocol/clientInfo': 'me' })],
    ['parameters of the wrong type', message('resources/list', { uri: 7 })],
    ['an unknown method', message('resources/nope')],
    ['a tool call without its name in a header', message('tools/call', { name: 'list', arguments: {} })],
    ['a notification', { jsonrpc: '2.0', method: 'resources/list', params: { _meta: envelope } }],
    ['another version of JSON-RPC', { ...read, jsonrpc: '1.0' }],
  ])('leaves %s to the SDK', async (_name, sent, headers = {}) => {
    expect(await direct.answer(requestOf(sent, headers), sent)).toBeUndefined();
  });

  it('leaves a read that needs a confirmation to the SDK, which can ask', async () => {
    const provider = memoryProvider({ resources: { 'secret.txt': { text: 'secret' } } });
    const asking = createVitrine({ mounts: [{ name: 'memory', provider, prefix: 'none' }], confirm: ['memory:///**'] });
    const sent = message('resources/read', { uri: 'memory:///secret.txt' });
    expect(await createDirect(asking, SILENT).answer(requestOf(sent), sent)).toBeUndefined();
    await expect(
      asking.provider.read('memory:///secret.txt', { maxBytes: 1, maxChildren: 1 }, createContext()),
    ).rejects.toMatchObject({ code: 'denied' });
    await asking.close();
  });
});
