/** The server card (SEP-2127) and the catalog that leads to it: their fields, their readers, and nothing more. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createEndpoint } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpOptions, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type VitrineOptions } from '../../src/vitrine.ts';
import { temporaryFolder } from './folders.ts';
import { startHttp } from './harness.ts';
import { http, type RawResponse } from './raw.ts';

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const URI = { type: 'string', pattern: '^https?://' };
/** A card by the SEP's schema, without any other field. */
const CARD = {
  type: 'object',
  additionalProperties: false,
  required: ['$schema', 'name', 'version', 'description'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json' },
    name: { type: 'string', minLength: 3, maxLength: 200, pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$' },
    version: text(255),
    description: text(100),
    title: text(100),
    websiteUrl: URI,
    icons: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['src'],
        properties: {
          src: { type: 'string' },
          mimeType: { type: 'string' },
          sizes: { type: 'array', items: { type: 'string' } },
          theme: { enum: ['light', 'dark'] },
        },
      },
    },
    remotes: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'url'],
        properties: {
          type: { enum: ['streamable-http', 'sse'] },
          url: { type: 'string', pattern: '^https?://\\S+$' },
          supportedProtocolVersions: { type: 'array', items: { type: 'string' } },
          headers: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: text(100) } } },
        },
      },
    },
  },
};
const isCard = new Ajv2020({ strict: true, allErrors: true }).compile(CARD);

const SECRET = 'kept-in-the-cellar';

async function serveWith(options: HttpOptions = {}, more: Partial<VitrineOptions> = {}) {
  const provider = memoryProvider({ name: SECRET, resources: { [`${SECRET}.txt`]: { text: SECRET } } });
  const vitrine = createVitrine({ mounts: [{ name: SECRET, provider }], ...more });
  const serving = await serveHttp(vitrine, { port: 0, ...options });
  const { origin } = new URL(serving.url);
  return {
    url: serving.url,
    origin,
    get: (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      http(origin + path, { method, headers }),
    async [Symbol.asyncDispose]() {
      await serving.close();
      await vitrine.close();
    },
  };
}

const PATHS = [
  ['/mcp/server-card', 'application/mcp-server-card+json'],
  ['/.well-known/mcp/server-card.json', 'application/json'],
  ['/.well-known/mcp/server-card', 'application/json'],
] as const;

function cardIn(answer: RawResponse): { name: string; remotes: { url: string; headers?: object[] }[] } {
  expect(answer.status, answer.text).toBe(200);
  const card = JSON.parse(answer.text);
  expect(isCard(card), JSON.stringify(isCard.errors)).toBe(true);
  return card;
}

const TOKEN = 'a-token-of-at-least-some-length';
const handed = { name: 'somebody', hash: createHash('sha256').update(TOKEN).digest('hex') };
const RESOURCE = 'https://library.example/mcp';
const access = { rules: [{ effect: 'allow' as const, who: 'authenticated' as const }] };

describe('a server card', () => {
  it.each(PATHS)('is at %s, and has the identity and the address of the server', async (path, type) => {
    const icons = [{ src: 'https://library.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }];
    const server = {
      name: 'The Library',
      version: '1.2.3',
      title: 'A library',
      description: 'Books '.repeat(40),
      websiteUrl: 'https://library.example/',
      icons,
      instructions: SECRET,
    };
    await using serving = await serveWith({}, { server });
    const answer = await serving.get(path);
    const card = cardIn(answer);
    expect(answer.headers['content-type']).toBe(type);
    expect(card).toMatchObject({ version: '1.2.3', title: 'A library', name: 'localhost/The-Library', icons });
    const [remote] = card.remotes;
    expect(remote).toMatchObject({ type: 'streamable-http', url: serving.url });
    expect(remote).toHaveProperty('supportedProtocolVersions', expect.arrayContaining(['2026-07-28', '2025-11-25']));
    expect(remote).not.toHaveProperty('headers');
    expect(answer.text).not.toContain(SECRET);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['cache-control']).toMatch(/public, max-age=\d+/);
  });

  it('is in the catalog of the host', async () => {
    await using serving = await serveWith({ allowedHosts: ['library.example'] }, { server: { name: 'books' } });
    const catalog = await serving.get('/.well-known/ai-catalog.json', { host: 'library.example' });
    expect(catalog.headers['content-type']).toBe('application/ai-catalog+json');
    const card = 'http://library.example/mcp/server-card';
    const type = 'application/mcp-server-card+json';
    const entries = [{ identifier: 'urn:air:library.example:mcp:books', type, url: card }];
    expect(JSON.parse(catalog.text)).toEqual({ specVersion: '1.0', entries });
    const { name } = cardIn(await serving.get('/mcp/server-card', { host: 'library.example' }));
    expect(name).toBe('example.library/books');
  });

  it('is not sent again to a client that has it, and has another version after a change', async () => {
    await using serving = await serveWith();
    await using other = await serveWith({}, { server: { title: 'Another' } });
    const { headers } = await serving.get('/mcp/server-card');
    const etag = String(headers.etag);
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const tag of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
      const again = await serving.get('/mcp/server-card', { 'if-none-match': tag });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await serving.get('/mcp/server-card', { 'if-none-match': '"x"' })).status).toBe(200);
    const host = new URL(serving.origin).host;
    expect((await other.get('/mcp/server-card', { host, 'if-none-match': etag })).status).toBe(200);
    const head = await serving.get('/mcp/server-card', {}, 'HEAD');
    expect([head.status, head.text, head.headers.etag]).toEqual([200, '', etag]);
  });

  it('is behind the guards, like everything else', async () => {
    await using serving = await serveWith();
    for (const path of [...PATHS.map(([each]) => each), '/.well-known/ai-catalog.json']) {
      expect((await serving.get(path, { host: 'rebound.example' })).status).toBe(403);
      expect((await serving.get(path, { origin: 'https://evil.example' })).status).toBe(403);
      expect((await serving.get(path, { origin: 'http://localhost:3000' }, 'OPTIONS')).status).toBe(204);
      expect((await serving.get(path, {}, 'POST')).status).toBe(404);
    }
  });

  it('of a server with its own address may be read by everybody: without a token, from any page', async () => {
    const auth = { resource: RESOURCE, tokens: [handed] };
    await using serving = await serveWith({ auth }, { access });
    const page = { host: 'library.example', origin: 'https://app.example' };
    const answer = await serving.get('/mcp/server-card', page);
    const card = cardIn(answer);
    expect(card.name).toBe('example.library/vitrine');
    expect(card.remotes).toMatchObject([{ url: RESOURCE, headers: [{ name: 'Authorization', isSecret: true }] }]);
    expect(answer.text).not.toMatch(new RegExp(`${SECRET}|somebody|${handed.hash}`));
    const preflight = await serving.get('/mcp/server-card', page, 'OPTIONS');
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'Content-Type, If-None-Match',
    ]);
    expect((await serving.get('/mcp/server-card', { ...page, host: 'rebound.example' })).status).toBe(403);
    expect((await serving.get('/mcp', page)).status).toBe(403);
  });

  it('says nothing about the issuer of tokens', async () => {
    const auth = { resource: RESOURCE, issuers: [{ issuer: 'https://login.example' }] };
    await using serving = await serveWith({ auth }, { access });
    const [remote] = cardIn(await serving.get('/mcp/server-card')).remotes;
    expect(remote).not.toHaveProperty('headers');
  });

  it('counts as a request for the limits', async () => {
    const auth = { resource: 'http://localhost/mcp', tokens: [handed] };
    await using serving = await serveWith(
      { auth },
      { access, limits: { rates: { anonymous: '2/h' }, anonymousIsOne: true } },
    );
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await serving.get('/mcp/server-card')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('can be turned off and changed by the configuration', async () => {
    const config = (card: string) => ({ 'vitrine.yaml': `mounts: { docs: . }\nserver: { card: ${card} }\n` });
    await using off = await temporaryFolder(config('off'));
    await using on = await temporaryFolder(config('{ name: com.acme/books, url: https://books.acme.example/mcp }'));
    await writeFile(join(on.path, 'a.txt'), 'a');
    await using none = await startHttp([join(off.path, 'vitrine.yaml')]);
    for (const [path] of [...PATHS, ['/.well-known/ai-catalog.json']])
      expect((await http(new URL(path, none.url).href, { method: 'GET' })).status).toBe(404);
    await using told = await startHttp([join(on.path, 'vitrine.yaml')]);
    const card = cardIn(await http(`${told.url}/server-card`, { method: 'GET' }));
    expect(card).toMatchObject({ name: 'com.acme/books', remotes: [{ url: 'https://books.acme.example/mcp' }] });
  });

  it('is beside the endpoint of a custom program', async () => {
    const vitrine = createVitrine({ mounts: [{ name: 'm', provider: memoryProvider({ name: 'm', resources: {} }) }] });
    const endpoint = createEndpoint(vitrine);
    const headers = { host: 'localhost' };
    const answer = await endpoint.fetch(new Request('http://localhost/api/mcp/server-card?x', { headers }));
    expect(await answer.json()).toMatchObject({ remotes: [{ url: 'http://localhost/api/mcp' }] });
    await endpoint.close();
    await vitrine.close();
    expect(() => createEndpoint(vitrine, { card: { name: 'no slash' } })).toThrow('server card');
    expect(() => createEndpoint(vitrine, { card: { url: 'ftp://x' } })).toThrow('server card');
  });
});
