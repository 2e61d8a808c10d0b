/**
 * Requests that the server makes to an address that somebody else names. The server fetches no address of a caller or of a mounted
 * server.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wrapProvider } from '../../../src/core/layer.ts';
import { defineTool } from '../../../src/core/tool.ts';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { upstream } from '../../../src/providers/upstream/index.ts';
import { type HttpServing, serveHttp } from '../../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../../src/vitrine.ts';
import { ERAS } from '../../e2e/harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, post } from '../../e2e/raw.ts';
import { until } from '../../e2e/waiting.ts';
import { type Listening, listening } from '../../gateway/authorization/servers.ts';
import { RESOURCE, startGuarded } from '../authorization-servers.ts';
import { ask, call } from './asking.ts';
import { type RecordedServer, recordedServer } from './recorded-server.ts';

/** The target that a forged request would reach: like the metadata service of a cloud, it answers everybody. */
let inside: Listening;
let far: RecordedServer;
let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  inside = await listening(() => (_request, response) => response.end('{"token":"of-the-machine"}'));
  far = await recordedServer(namingServer(inside.origin));
  const reached = upstream({
    name: 'far',
    target: { url: far.url, headers: { authorization: 'Bearer only-for-far' } },
  });
  vitrine = createVitrine({ mounts: [{ name: 'far', provider: reached.provider, server: reached.server }] });
  expect(await reached.ready(60_000)).toBe(true);
  serving = await serveHttp(vitrine, { port: 0 });
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
  await far?.[Symbol.asyncDispose]();
  await inside?.[Symbol.asyncDispose]();
});

/** A server that gives an address wherever it can give one. */
function namingServer(origin: string): Vitrine {
  const icons = [{ src: `${origin}/icon.png`, mimeType: 'image/png' }];
  const link = { type: 'resource_link' as const, uri: `${origin}/linked`, name: 'linked' };
  const memory = memoryProvider({ resources: { 'a.md': { text: `![](${origin}/image.png)`, icons } } });
  const provider = wrapProvider(memory, {
    // The provider declares all schemes, because lists leave out URIs of undeclared ones.
    features: { ...memory.features, schemes: ['*'] },
    async list(uri, page, ctx) {
      const { resources, ...rest } = await memory.list(uri, page, ctx);
      const named = { uri: `${origin}/listed`, name: 'listed', capabilities: { list: false, subscribe: false }, icons };
      return { ...rest, resources: [...resources, named] };
    },
  });
  const linked = defineTool({
    name: 'linked',
    inputSchema: { type: 'object' },
    icons,
    run: () => ({ content: [link] }),
  });
  return createVitrine({
    mounts: [{ name: 'notes', provider, prefix: 'none', icons }],
    server: { name: 'naming', version: '1.0.0', websiteUrl: `${origin}/website`, icons },
    tools: [linked],
  });
}

const addresses = (origin: string): string[] => [
  `${origin}/latest/meta-data/`,
  `far+${origin}/latest/meta-data/`,
  `far+memory://${new URL(origin).host}/a.md`,
  `memory://${new URL(origin).host}/a.md`,
  'http://169.254.169.254/latest/meta-data/',
  'far+http://169.254.169.254/latest/meta-data/',
  `file://${new URL(origin).host}/etc/passwd`,
];

describe('CVE-2026-26118: the server requests an address in place of a name, with its own credentials', () => {
  it.each(ERAS)('from a caller, in the %s era', async (era) => {
    for (const uri of addresses(inside.origin)) {
      for (const method of ['resources/read', 'resources/metadata', 'resources/list', 'resources/directory/read']) {
        const { refused, text } = await ask(serving.url, era, method, { uri });
        expect(refused, `${method} ${uri}: ${text}`).toBe(true);
      }
      await ask(serving.url, era, 'completion/complete', {
        ref: { type: 'ref/resource', uri: `${inside.origin}/{path}` },
        argument: { name: 'path', value: uri },
      });
      for (const name of ['read', 'describe', 'subscribe', 'read_embedded', 'far_linked']) {
        await call(serving.url, era, name, { uri, url: uri });
      }
      const _meta = { ...ENVELOPE, traceparent: uri, 'io.modelcontextprotocol/related': { href: uri } };
      await ask(serving.url, era, 'resources/read', { uri: 'far+memory:///a.md', url: uri, _meta });
    }
    const clientInfo = {
      name: 'x',
      version: '1',
      websiteUrl: `${inside.origin}/client`,
      icons: [{ src: `${inside.origin}/client.png` }],
    };
    await post(serving.url, 'legacy', 'initialize', { ...INITIALIZE, clientInfo });
    expect(inside.requests).toEqual([]);
  });

  it.each(ERAS)('from a mounted server, in the %s era', async (era) => {
    for (const method of ['resources/list', 'tools/list', 'resources/templates/list', 'prompts/list']) {
      const { text } = await ask(serving.url, era, method);
      if (method === 'resources/list') expect(text).toContain(`far+${inside.origin}/listed`);
    }
    await ask(serving.url, era, 'resources/read', { uri: `far+${inside.origin}/listed` });
    await ask(serving.url, era, 'resources/read', { uri: 'far+memory:///a.md' });
    const { text } = await call(serving.url, era, 'far_linked', {});
    expect(text).toContain(`${inside.origin}/linked`);
    expect(inside.requests).toEqual([]);
    expect(far.requests.filter((line) => !/^(?:POST|GET|DELETE) \/mcp$/.test(line))).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])('from a redirect of a mounted server with %i', async (status) => {
    await using redirecting = await listening(
      () => (_request, response) =>
        response.writeHead(status, { location: `${inside.origin}/latest/meta-data/` }).end(),
    );
    const target = { url: `${redirecting.origin}/mcp`, headers: { authorization: 'Bearer only-for-it' } };
    const away = upstream({ name: 'away', target, connectTimeoutMs: 2_000 });
    expect(await away.ready(3_000)).toBe(false);
    await until(() => redirecting.requests.length > 0, 'a request to be redirected');
    await away.close();
    expect(inside.requests).toEqual([]);
  });

  it.each(['jku', 'x5u', 'iss', 'kid'])('from the %s of a token', async (field) => {
    await using guarded = await startGuarded({
      issuers: [{ issuer: 'https://issuer.example', jwksUri: `${inside.origin}/jwks` }],
    });
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const address = `${inside.origin}/keys`;
    const header = { alg: 'RS256', kid: 'x', typ: 'at+jwt', ...(field !== 'iss' && { [field]: address }) };
    const now = Math.floor(Date.now() / 1_000);
    const iss = field === 'iss' ? address : 'https://other.example';
    const token = `${part(header)}.${part({ iss, aud: RESOURCE, sub: 'x', exp: now + 600 })}.AAAA`;
    const headers = {
      ...JSON_HEADERS,
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'resources/list',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: ENVELOPE } });
    expect((await http(guarded.serving.url, { headers, body })).status).toBe(401);
    expect(inside.requests).toEqual([]);
  });
});
