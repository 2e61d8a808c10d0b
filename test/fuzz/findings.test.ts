/** The findings of the fuzzer, each with its name. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { definePrompt, defineTool } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type VitrineOptions } from '../../src/vitrine.ts';
import { messageOf, post } from '../e2e/raw.ts';
import { ask } from '../security/incidents/asking.ts';

const docs = memoryProvider({ resources: { 'a.txt': { text: 'a' } } });

/** A custom tool may log, so with it the server accepts `logging/setLevel`. */
const logging = defineTool({ name: 'count', description: 'Counts', inputSchema: z.object({}), run: () => 'one' });

/** Serves a document with these options while `use` runs. */
async function served(options: Partial<VitrineOptions>, use: (url: string) => Promise<void>): Promise<void> {
  const vitrine = createVitrine({ mounts: [{ name: 'docs', provider: docs }], ...options });
  const serving = await serveHttp(vitrine, { port: 0 });
  try {
    await use(serving.url);
  } finally {
    await serving.close();
    await vitrine.close();
  }
}

it('an invalid level of log messages is refused, and is not an internal error', () =>
  served({ tools: [logging] }, async (url) => {
    for (const level of ['loud', '', 1, null, {}]) {
      const { message } = await ask(url, 'legacy', 'logging/setLevel', { level });
      expect(message.error).toMatchObject({ code: -32602, message: expect.stringContaining('one of debug, info') });
    }
    expect((await ask(url, 'legacy', 'logging/setLevel', { level: 'error' })).message.result).toEqual({});
  }));

it('an incomplete handshake is refused, within a session and at its start', () =>
  served({}, async (url) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const post = async (params: object | undefined, session?: string): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      });
    const clientInfo = { name: 'tests', version: '1.0.0' };
    const begun = await post({ protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    const session = begun.headers.get('mcp-session-id') ?? '';
    await begun.text();
    for (const params of [undefined, {}, { protocolVersion: 1 }, { protocolVersion: '2025-11-25', capabilities: [] }]) {
      const text = await (await post(params, session)).text();
      const { error } = JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text);
      expect(error, text).toMatchObject({ code: -32602, message: expect.stringContaining('params for initialize') });
      expect(error.message).not.toContain('[');
      // Without a session, it is refused as any other request that has no session.
      const outside = await post(params);
      expect(outside.status).toBe(400);
      expect((await outside.json()).error).toMatchObject({ code: -32000 });
    }
  }));

it('an invalid template is refused if confirmations are configured', () =>
  served({ confirm: ['docs+memory:///a.txt'] }, async (url) => {
    for (const uri of ['vitrine+state:///subscriptions%', 'vitrine+state:///subscriptions\u0000', 'docs+memory:///{']) {
      const params = { ref: { type: 'ref/resource', uri }, argument: { name: 'path', value: '' } };
      const message = messageOf(await post(url, 'modern', 'completion/complete', params));
      expect(message).toMatchObject({ error: { code: -32602 } });
    }
  }));

it.each(['modern', 'legacy'] as const)('names of parameters are shown in visible characters (%s)', (era) => {
  const greet = definePrompt({
    name: 'greet',
    get: () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] }),
  });
  return served({ prompts: [greet] }, async (url) => {
    const { message } = await ask(url, era, 'prompts/get', {
      name: 'greet',
      arguments: { 'a\u0000\u001b[2J\u202e': 1 },
    });
    expect(message.error).toMatchObject({ code: -32602, message: expect.stringContaining('arguments.a: ') });
  });
});
