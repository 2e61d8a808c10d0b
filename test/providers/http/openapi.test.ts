/** OpenAPI documents: which resources and templates they make, and what a document cannot make this server do. */
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readApi } from '../../../plug-ins/openapi/index.ts';
import { createContext } from '../../../src/core/context.ts';
import { createNotes } from '../../../src/core/notes.ts';
import { resourcesOf } from '../../../src/providers/http/api.ts';
import { httpProvider } from '../../../src/providers/http/index.ts';
import { ctx, get, serveWeb } from './looking.ts';
import { content, JSON_TYPE } from './site.ts';

const integer = { type: 'integer' };
const string = { type: 'string' };
const document = (version: string): Record<string, unknown> => ({
  openapi: version,
  info: { title: 'Museum', version: '1' },
  servers: [{ url: '/{stage}', variables: { stage: { default: 'v1' } } }],
  paths: {
    '/rooms': {
      get: {
        operationId: 'rooms',
        summary: 'All rooms',
        description: 'Every room that is open.',
        parameters: [
          { $ref: '#/components/parameters/Sort' },
          { name: 'tag', in: 'query', schema: { type: 'array', items: string } },
        ],
        responses: { 200: { content: { 'text/csv': {}, 'application/json': {} } } },
      },
      post: { operationId: 'addRoom', responses: {} },
    },
    '/rooms/{room-id}': {
      parameters: [{ name: 'room-id', in: 'path', required: true, schema: integer }],
      get: { summary: 'One room', responses: { '2XX': { $ref: '#/components/responses/Room' } } },
    },
    '/search': {
      get: { parameters: [{ name: 'filter[name]', in: 'query', required: true, schema: string }], responses: {} },
    },
    '/private': {
      get: { parameters: [{ name: 'X-Token', in: 'header', required: true, schema: string }], responses: {} },
    },
    '/elsewhere': { servers: [{ url: 'https://evil.example' }], get: { responses: {} } },
    '/remote': { get: { parameters: [{ $ref: 'https://evil.example/p.json' }], responses: {} } },
    '/file': { get: { parameters: [{ $ref: '../../etc/passwd#/x' }], responses: {} } },
    '/circle': { get: { parameters: [{ $ref: '#/components/parameters/A' }], responses: {} } },
    '/deep': { $ref: '#/components/pathItems/Deep' },
    '/../climb': { get: { responses: {} } },
    '/only-post': { post: { responses: {} } },
  },
  components: {
    parameters: {
      Sort: { name: 'sort', in: 'query', schema: { $ref: '#/components/schemas/Sort' } },
      A: { $ref: '#/components/parameters/B' },
      B: { $ref: '#/components/parameters/A' },
    },
    schemas: { Sort: { type: 'string', enum: ['name', 'size'] } },
    responses: { Room: { description: 'x', content: { 'application/json': {} } } },
    pathItems: { Deep: { get: { operationId: 'deep', responses: {} } } },
  },
});

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitrine-openapi-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ['3.0.3', JSON.stringify],
  ['3.1.0', stringify],
])('a document of version %s', (version, write) => {
  const open = async (more: object = {}) => {
    const web = await serveWeb(({ origin }) => ({ http: [{ openapi: `${origin}/api` }], ...more }));
    web.site.on('/api', content(write(document(version)), JSON_TYPE));
    web.site.on('/v1/rooms', content('[]', JSON_TYPE));
    web.site.on('/v1/rooms/7', content('{"room":7}', JSON_TYPE));
    return web;
  };

  it('gives resources for operations without parameters, and templates for the others [RES-3, RES-5]', async () => {
    await using web = await open();
    const { origin } = web.site;
    const { resources } = await web.provider.list(undefined, { limit: 100 }, ctx);
    expect(resources).toEqual([
      {
        uri: `${origin}/v1/rooms`,
        name: 'rooms',
        title: 'All rooms',
        description: 'Every room that is open.',
        mimeType: 'application/json',
        capabilities: { list: false, subscribe: true },
      },
      { uri: `${origin}/v1/deep`, name: 'deep', capabilities: { list: false, subscribe: true } },
    ]);
    const templates = await web.provider.listTemplates?.({ limit: 100 }, ctx);
    expect(templates?.resourceTemplates.map(({ uriTemplate }) => uriTemplate.slice(origin.length))).toEqual([
      '/v1/rooms{?sort,tag*}',
      '/v1/rooms/{room_id}',
      '/v1/search{?filter%5Bname%5D}',
    ]);
    expect((await get(web.provider, `${origin}/v1/rooms/7`)).text).toBe('{"room":7}');
    expect((await get(web.provider, `${origin}/v1/rooms?sort=name&tag=a&tag=b`)).text).toBe('[]');
    expect(web.site.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /api',
      'GET /v1/rooms/7',
      'GET /v1/rooms?sort=name&tag=a&tag=b',
    ]);
  });

  it('completes enumerated values, and refuses others', async () => {
    await using web = await open();
    const { origin } = web.site;
    const request = {
      uriTemplate: `${origin}/v1/rooms{?sort,tag*}`,
      variable: 'sort',
      value: '',
      known: {},
      limit: 10,
    };
    expect(await web.provider.complete?.(request, ctx)).toEqual({ values: ['name', 'size'], total: 2, hasMore: false });
    await expect(get(web.provider, `${origin}/v1/rooms?sort=evil`)).rejects.toMatchObject({ code: 'not-found' });
  });
});

it('a file that is larger than a document may be is refused without being read', async () => {
  const file = join(folder, 'large.yaml');
  await writeFile(file, '');
  await truncate(file, 2 ** 36);
  await expect(httpProvider({ http: [{ openapi: file }] })).rejects.toMatchObject({
    code: 'invalid',
    message: 'openapi: large.yaml has more than 8388608 bytes',
  });
});

it('a document in a file that names only a relative server needs the address of the API in the configuration', async () => {
  const file = join(folder, 'api.yaml');
  await writeFile(file, stringify(document('3.1.0')));
  await expect(httpProvider({ http: [{ openapi: file }] })).rejects.toMatchObject({ code: 'invalid' });
  await using web = await serveWeb(
    ({ origin }) => ({
      http: [{ openapi: 'api.yaml', server: `${origin}/v2/` }],
      base: folder,
      headers: { Authorization: 'Bearer abc' },
    }),
    content('[]', JSON_TYPE),
  );
  expect((await get(web.provider, `${web.site.origin}/v2/rooms`)).text).toBe('[]');
  expect(web.site.asked[0]?.headers.authorization).toBe('Bearer abc');
});

it('a server that only a document names gets no credentials; a configured one does', async () => {
  const source = JSON.stringify({ ...document('3.0.0'), servers: [{ url: 'https://evil.example/v1' }] });
  const access = { headers: { authorization: 'Bearer abc' }, query: { key: 'k' } };
  const from = 'https://api.example/openapi.json';
  const place = { what: 'x', from, server: undefined, access };
  const { targets, templates } = await resourcesOf(readApi(source, place), place);
  expect(targets.length + templates.length).toBeGreaterThan(3);
  for (const each of [...targets, ...templates]) expect(each.access).toEqual({ headers: {}, query: {} });
  const server = 'https://api.example/v1';
  const own = await resourcesOf(readApi(source, { ...place, server }), { ...place, server });
  for (const { uri, access: used } of own.targets) {
    expect(uri).toMatch(/^https:\/\/api\.example\/v1\//);
    expect(used).toBe(access);
  }
});

it('a document that cannot be loaded is reported as missing in lists, hides nothing else, and is tried again', async () => {
  await using web = await serveWeb(({ origin }) => ({ http: [{ openapi: `${origin}/api` }, `${origin}/plain`] }));
  web.site.on('/plain', content('plain'));
  const notes = createNotes();
  const { resources } = await web.provider.list(undefined, { limit: 10 }, createContext({ notes }));
  expect(resources.map(({ uri }) => uri)).toEqual([`${web.site.origin}/plain`]);
  expect(JSON.stringify(notes.finish({}, { ttlMs: 1, cacheScope: 'public' }))).toContain('document of an API');
  expect((await get(web.provider, `${web.site.origin}/plain`)).text).toBe('plain');
  await expect(get(web.provider, `${web.site.origin}/v1/rooms`)).rejects.toMatchObject({ code: 'unavailable' });
});

describe('a document', () => {
  const place = {
    what: 'api.json',
    from: 'https://api.example/openapi.json',
    server: undefined,
    access: { headers: {}, query: {} },
  };
  it.each([
    ['is not a document', 'hello'],
    ['is broken', '{"openapi":'],
    ['is of version 2', '{"swagger":"2.0","paths":{}}'],
    ['is of a future version', '{"openapi":"4.0.0"}'],
    [
      'has too many aliases',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `${'bcdefghij'[n]}: &${'bcdefghij'[n]} [${Array(9).fill(`*${'abcdefghi'[n]}`).join(',')}]`).join('\n')}\n`,
    ],
    ['is too large', `{"openapi":"3.1.0","x":"${'x'.repeat(9_000_000)}"}`],
    ['has a file: URL as its server', '{"openapi":"3.1.0","servers":[{"url":"file:///etc"}]}'],
    ['has a user in its server', '{"openapi":"3.1.0","servers":[{"url":"https://me@api.example"}]}'],
    ['has a password in its server', '{"openapi":"3.1.0","servers":[{"url":"https://:pw@api.example"}]}'],
  ])('that %s is refused', (_what, source) => {
    expect(() => readApi(source, place)).toThrow(/^api\.json /);
  });

  it('with a long chain of references is read without the operation that has it', async () => {
    const deep: Record<string, unknown> = { openapi: '3.1.0', paths: {} };
    const chain = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, n) => [`p${n}`, { $ref: `#/components/parameters/p${n + 1}` }]),
    );
    const paths = {
      '/a': { get: { parameters: [{ $ref: '#/components/parameters/p0' }], responses: {} } },
      '/b': { get: {} },
    };
    const source = JSON.stringify({ ...deep, paths, components: { parameters: chain } });
    const { targets } = await resourcesOf(readApi(source, place), place);
    expect(targets.map(({ url }) => url.pathname)).toEqual(['/b']);
  });
});
