/** URLs that callers invent, and values for templates: nothing leaves its place, and nothing else is requested [SEC-RES-5]. */
import { describe, expect, it } from 'vitest';
import { compileTemplate } from '../../src/providers/http/templates.ts';
import { ctx, get, serveWeb } from '../providers/http/looking.ts';
import { content } from '../providers/http/site.ts';

/** The values with which a caller replaces a variable in the URL. */
const ATTACKS: readonly string[] = [
  '..',
  '.',
  '../admin',
  '..%2fadmin',
  '%2e%2e',
  '%2E%2E',
  '%2e%2e/admin',
  '%2e%2e%2fadmin',
  '%252e%252e',
  '%252e%252e%252fadmin',
  '%25252e%25252e%25252fadmin',
  '..;',
  '..;/admin',
  '%2e%2e;',
  '..%5cadmin',
  '..%255cadmin',
  '..\\admin',
  '%5c%5chost',
  '/admin',
  '//evil.example/',
  '%2fadmin',
  '%2f%2fevil.example',
  '?admin=1',
  '#fragment',
  '@evil.example/',
  'x@evil.example/..',
  '%00',
  'a%00b',
  '%0d%0aX-Injected:%201',
  'a%0d%0a%0d%0aGET%20/admin',
  '%0a',
  '%250d%250a',
  'a\r\nb',
  'a%',
  'a%zz',
  '%c0%ae%c0%ae',
  '%e0%80%af',
  '%ff',
  '\ud800',
  '',
];

describe.each([
  ['/items/{id}', '/items/'],
  ['/items/{id}/data', '/items/'],
  ['/items{/id}', '/items/'],
  ['/tree/{+path}', '/tree/'],
  ['/items/{a}{b}', '/items/'],
  ['/find{?q}', '/find'],
])('the template %s', (template, prefix) => {
  it('requests nothing outside of its place', async () => {
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ urlTemplate: origin + template }], watch: false, head: false }),
      content('answer'),
    );
    const { provider, site } = web;
    for (const attack of ATTACKS) {
      const at = template.replace(/\{[^}]*\}/, template.includes('{/') ? `/${attack}` : attack).replace('{b}', '.');
      const uris = template.includes('{?') ? [`${site.origin}/find?q=${attack}`] : [site.origin + at];
      for (const uri of uris) {
        for (const work of [() => get(provider, uri), () => provider.metadata(uri, ctx)]) {
          const error = await work().catch((thrown: unknown) => thrown);
          if (error instanceof Error) expect(error.name, uri).toBe('ResourceError');
        }
      }
    }
    for (const { path, headers } of site.asked) {
      expect(path.startsWith(prefix)).toBe(true);
      expect(path).not.toMatch(
        template.includes('{?') ? /[&#\\]|%0[0ad]/i : /admin|\.\.|%2e%2e|%5c|%0[0ad]|\/\/|[\\?#]/i,
      );
      expect(headers).not.toHaveProperty('x-injected');
    }
  });
});

describe('a value', () => {
  const QUERY: readonly (readonly [string, string])[] = [
    ['a/b', 'a/b'],
    ['../x', '../x'],
    ['a&b=c', 'a&b=c'],
    ['a#b', 'a#b'],
    ['a?b', 'a?b'],
    ['a b+c', 'a b+c'],
  ];

  it.each(QUERY)('%s of the query stays one parameter', async (value, expected) => {
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ urlTemplate: `${origin}/find{?q}` }], head: false }),
      content('found'),
    );
    await get(web.provider, `${web.site.origin}/find?q=${encodeURIComponent(value)}`);
    const asked = new URL(web.site.asked[0]?.path ?? '', web.site.origin);
    expect([...asked.searchParams]).toEqual([['q', expected]]);
  });

  it.each(['a b', '100%', 'ä', 'x.y', '...', 'a..b', '~', "it's", 'a+b', '日本', 'what?', '#1', 'a:b@c'])(
    '%s of the path is requested unchanged',
    async (value) => {
      await using web = await serveWeb(
        ({ origin }) => ({ http: [{ urlTemplate: `${origin}/items/{id}` }], head: false }),
        content('found'),
      );
      const uri = `${web.site.origin}/items/${encodeURIComponent(value).replaceAll("'", '%27')}`;
      expect((await get(web.provider, uri)).resource.uri).toBe(uri);
      expect(decodeURIComponent(web.site.asked[0]?.path.slice('/items/'.length) ?? '')).toBe(value);
    },
  );

  it('that is not listed is not requested', async () => {
    const variables = { id: { values: ['one', 'two'] } };
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ urlTemplate: `${origin}/items/{id}`, variables }] }),
      content('found'),
    );
    expect((await get(web.provider, `${web.site.origin}/items/one`)).text).toBe('found');
    await expect(get(web.provider, `${web.site.origin}/items/three`)).rejects.toMatchObject({ code: 'not-found' });
    expect(web.site.asked.map(({ path }) => path)).toEqual(['/items/one']);
  });

  it('in another spelling is the same resource, under one URI', async () => {
    await using web = await serveWeb(
      ({ origin }) => ({ http: [{ urlTemplate: `${origin}/items/{id}` }], head: false }),
      content('found'),
    );
    const { resource } = await get(web.provider, `${web.site.origin}/items/%73ecret`);
    expect(resource.uri).toBe(`${web.site.origin}/items/secret`);
  });
});

describe('only configured URLs can be read:', () => {
  it.each([
    'http://127.0.0.1:1/a.json',
    'http://evil.example/a.json',
    'https://{host}/a.json',
    'http://{host}@evil.example/a.json',
    'http://{host}/a.json?x=1',
    'http://{host}/a.json#entry-1',
    'http://{host}/b.json',
    'http://{host}/x/../a.json',
    'http://{host}/x/%2e%2e/a.json',
    'http://{host}//a.json',
    'http://{host}/%61.json',
    'HTTP://{host}/a.json',
    'file:///etc/passwd',
    'ftp://{host}/a.json',
    'data:text/plain,x',
    'http:a.json',
    'http://',
    'http://{host}/a.json\r\nX: y',
  ])('%s is not', async (form) => {
    await using web = await serveWeb(({ origin }) => ({ http: `${origin}/a.json`, head: false }), content('own'));
    const uri = form.replace('{host}', `127.0.0.1:${web.site.port}`);
    const error = await get(web.provider, uri).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ResourceError' });
    expect(['not-found', 'invalid']).toContain((error as { code: string }).code);
    expect(web.site.asked).toHaveLength(0);
  });
});

describe('a template is refused in a configuration if it', () => {
  const common = { access: { headers: {}, query: {} }, description: {}, head: true };
  it.each<[string, string, Record<string, string[]>?]>([
    ['has no fixed host', 'https://{host}/a'],
    ['has a part of a host', 'https://api.{zone}.example/a'],
    ['has a port to fill in', 'https://api.example:{port}/a'],
    ['ends its host with a variable', 'https://api.example{x}'],
    ['writes anything behind the host', 'https://api.example{+path}'],
    ['has a user', 'https://me@api.example/{x}'],
    ['has another scheme', 'ftp://api.example/{x}'],
    ['has any scheme', '{+url}'],
    ['has a fragment to fill in', 'https://api.example/{#x}'],
    ['has a fragment', 'https://api.example/{x}#y'],
    ['writes anything into the query', 'https://api.example/a?q={+x}'],
    ['climbs', 'https://api.example/a/../{x}'],
    ['climbs in escapes', 'https://api.example/a/%2e%2e/{x}'],
    ['has no variable', 'https://api.example/a'],
    ['is no template', 'https://api.example/{x'],
    ['has a value for a variable that is not there', 'https://api.example/{y}', { x: ['1'] }],
  ])('%s: %s', (_what, text, values = {}) => {
    expect(() => compileTemplate(text, { ...common, values })).toThrow(/The URL template/);
  });

  it('and is accepted otherwise, in its canonical form', () => {
    expect(compileTemplate('HTTPS://API.Example:443/v1/{id}{?q*}', common).text).toBe(
      'https://api.example/v1/{id}{?q*}',
    );
  });
});
