/** A web page makes its own name point to this machine, and sends requests to the server that listens here. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wrapProvider } from '../../../src/core/layer.ts';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { ERAS } from '../../e2e/harness.ts';
import { http, INITIALIZE, JSON_HEADERS, post } from '../../e2e/raw.ts';

/** A server as people start it on a laptop: without authorization, and without allowed hosts. */
let vitrine: Vitrine;
let serving: HttpServing;
const read: string[] = [];

beforeAll(async () => {
  const memory = memoryProvider({ resources: { 'a.txt': { text: 'only for this machine' } } });
  const provider = wrapProvider(memory, {
    read(uri, want, ctx) {
      read.push(uri);
      return memory.read(uri, want, ctx);
    },
  });
  vitrine = createVitrine({ mounts: [{ name: 'docs', provider, prefix: 'none' }] });
  serving = await serveHttp(vitrine, { port: 0 });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
});

const REBOUND: Readonly<Record<string, (port: number) => Record<string, string>>> = {
  'its own name as Host': (port) => ({ host: `evil.example:${port}` }),
  'its own name as Host and Origin': (port) => ({
    host: `evil.example:${port}`,
    origin: `http://evil.example:${port}`,
  }),
  'a name that holds ours': (port) => ({ host: `localhost.evil.example:${port}` }),
  'our address as Host, and its own Origin': (port) => ({ host: `127.0.0.1:${port}`, origin: 'http://evil.example' }),
  'an Origin that holds ours': (port) => ({ host: `localhost:${port}`, origin: 'http://localhost.evil.example' }),
  'no Origin to speak of': (port) => ({ host: `127.0.0.1:${port}`, origin: 'null' }),
};

describe.each([
  ['CVE-2025-66414', 'the TypeScript SDK did not look at the Host of a server on this machine unless it was told to'],
  ['CVE-2025-66416', 'neither did the Python SDK'],
  ['CVE-2026-34742', 'neither did the Go SDK, and its fix left out the streams that a GET opens'],
])('%s: %s', () => {
  describe.each(Object.entries(REBOUND))('a page with %s', (_what, headersAt) => {
    it.each(ERAS)('reads nothing, in the %s era', async (era) => {
      read.length = 0;
      const named = era === 'modern' ? { 'mcp-name': 'memory:///a.txt' } : {};
      const headers = { ...headersAt(serving.port), ...named };
      const { status, text } = await post(serving.url, era, 'resources/read', { uri: 'memory:///a.txt' }, headers);
      expect(status).toBe(403);
      expect(text).not.toContain('only for this machine');
      expect(read).toEqual([]);
    });

    it('starts no session and uses no existing one, with any HTTP method', async () => {
      const headers = headersAt(serving.port);
      const begun = await post(serving.url, 'legacy', 'initialize', INITIALIZE, headers);
      expect([begun.status, begun.headers['mcp-session-id']]).toEqual([403, undefined]);
      const own = await post(serving.url, 'legacy', 'initialize', INITIALIZE);
      const session = { 'mcp-session-id': String(own.headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
      for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT']) {
        const answer = await http(serving.url, { method, headers: { ...JSON_HEADERS, ...session, ...headers } });
        expect([method, answer.status, answer.headers['access-control-allow-origin']]).toEqual([
          method,
          403,
          undefined,
        ]);
      }
      expect((await post(serving.url, 'legacy', 'ping', {}, session)).status).toBe(200);
      await http(serving.url, { method: 'DELETE', headers: { ...JSON_HEADERS, ...session } });
    });
  });
});
