/** Nothing experimental exists until it is turned on by name. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVitrine, defineTool, type HttpServing, serveHttp, type Vitrine } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { ERAS } from './harness.ts';
import { type Answer, ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, type RawResponse } from './raw.ts';

/** Experimental features that a client may declare. */
const EXPERIMENTAL = { tasks: {}, sandbox: { on: true }, 'vitrine/resume': {} };

/** Methods of drafts, and of other servers. */
const DRAFTS = [
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'resources/write',
  'resources/search',
  'tools/resume',
  'events/subscribe',
  'experimental/echo',
  'vitrine/experimental',
];

let vitrine: Vitrine;
let plain: HttpServing;
let resumable: HttpServing;

beforeAll(async () => {
  const echo = defineTool({ name: 'echo', inputSchema: { type: 'object' }, run: () => 'echoed' });
  const provider = memoryProvider({ name: 'notes', resources: { 'a.md': { text: 'a' } } });
  vitrine = createVitrine({ mounts: [{ name: 'notes', provider, prefix: 'none' }], tools: [echo] });
  plain = await serveHttp(vitrine, { port: 0 });
  resumable = await serveHttp(vitrine, { port: 0, resume: {} });
});
afterAll(async () => {
  await plain.close();
  await resumable.close();
  await vitrine.close();
});

describe.each(ERAS)('to a client of the %s era that declares everything', (era) => {
  const capabilities = { experimental: EXPERIMENTAL, tasks: { list: {}, cancel: {} } };

  async function asker(url: string): Promise<(method: string, params?: object) => Promise<RawResponse>> {
    const headers: Record<string, string> = { ...JSON_HEADERS };
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { ...INITIALIZE, capabilities } };
    if (era === 'legacy') {
      const begun = await http(url, { headers, body: JSON.stringify(initialize) });
      headers['mcp-session-id'] = String(begun.headers['mcp-session-id']);
      headers['mcp-protocol-version'] = '2025-11-25';
    } else headers['mcp-protocol-version'] = '2026-07-28';
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': capabilities };
    return (method, params = {}) => {
      const { name, taskId } = params as { readonly name?: string; readonly taskId?: string };
      const named = { 'mcp-method': method, 'mcp-name': name ?? taskId ?? '' };
      const sent = era === 'modern' ? { ...params, _meta } : params;
      return http(url, {
        headers: { ...headers, ...(era === 'modern' && named) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: sent }),
      });
    };
  }

  it('no experimental feature is declared [SEC-CAP-2]', async () => {
    const handshake = { ...INITIALIZE, capabilities };
    const discover = await asker(plain.url);
    const answer: Answer =
      era === 'modern'
        ? messageOf(await discover('server/discover'))
        : messageOf(
            await http(plain.url, {
              headers: JSON_HEADERS,
              body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: handshake }),
            }),
          );
    const declared = answer.result?.capabilities as Record<string, unknown>;
    expect(Object.keys(declared).sort()).toEqual(['completions', 'extensions', 'logging', 'resources', 'tools']);
    // These are documented and stable, and change nothing for requests that do not use them.
    expect(declared.extensions).toEqual({
      'vitrine/resource-metadata': {},
      'sep-2093/resource-hierarchy': {},
      'vitrine/resource-directories': {},
    });
  });

  it.each(DRAFTS)('%s is an unknown method [SEC-CAP-2]', async (method) => {
    const ask = await asker(plain.url);
    expect(messageOf(await ask(method, { taskId: 'x', uri: 'notes:///a.md' })).error?.code).toBe(-32_601);
  });

  it('a call that asks to be a task is a plain call [SEC-CAP-2]', async () => {
    const ask = await asker(plain.url);
    const { result } = messageOf(await ask('tools/call', { name: 'echo', arguments: {}, task: { ttl: 60_000 } }));
    expect(result?.content).toEqual([{ type: 'text', text: 'echoed' }]);
    expect(result).not.toHaveProperty('task');
  });
});

it('events can be resumed only if that was turned on by name [SEC-CAP-2]', async () => {
  const events = async (url: string): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE });
    return (await http(url, { headers: JSON_HEADERS, body })).text;
  };
  expect(await events(plain.url)).not.toMatch(/^(?:id|retry):/m);
  expect(await events(resumable.url)).toMatch(/^id:/m);
});
