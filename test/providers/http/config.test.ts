/** A configuration describes web resources, and its mistakes are reported. */
import { describe, expect, it } from 'vitest';
import { parse as load } from 'yaml';
import { parseConfig } from '../../../src/config/load.ts';
import { createSecrets } from '../../../src/config/secrets.ts';
import { httpProvider } from '../../../src/providers/http/index.ts';

const parse = (text: string, env: Record<string, string> = {}) =>
  parseConfig(`mounts:\n${text}`, 'vitrine.yaml', { env, secrets: createSecrets() });

describe('a block with http', () => {
  it('is one URL, a list, or named entries', () => {
    const { mounts } = parse(`
  one: { http: "https://a.example/x.json", pollSeconds: 5 }
  list: { http: ["https://a.example/x", { urlTemplate: "https://a.example/{id}", variables: { id: { values: [a, b] } } }] }
  named:
    http:
      news: { url: "https://a.example/feed", feed: true, title: News }
      api: { openapi: ./api.yaml, server: "https://a.example/v1" }
    headers: { Authorization: Bearer x }
    allowPrivate: [10.0.0.0/8, intranet.example]
`);
    expect(mounts.one).toEqual({ http: 'https://a.example/x.json', pollSeconds: 5 });
    expect(mounts.list).toMatchObject({ http: ['https://a.example/x', { variables: { id: { values: ['a', 'b'] } } }] });
    expect(mounts.named).toMatchObject({ http: { news: { feed: true }, api: { openapi: './api.yaml' } } });
  });

  it('may refer to the environment', () => {
    const reference = '$' + '{KEY}';
    const { mounts } = parse(
      `  a: { http: [{ url: "https://a.example/x", headers: { X-Key: "${reference}" } }], query: { key: "${reference}" } }`,
      { KEY: 'abcdef' },
    );
    expect(mounts.a).toEqual({
      http: [{ url: 'https://a.example/x', headers: { 'X-Key': 'abcdef' } }],
      query: { key: 'abcdef' },
    });
    expect(() => parse(`  a: { http: "https://a.example/${reference}" }`)).toThrow(/KEY is not set/);
  });

  it.each([
    ['http: "ftp://a.example/x"', /is not an http: or https: URL/],
    ['http: "https://me:pw@a.example/x"', /has a user or a password in it/],
    ['http: [{ title: x }]', /an entry has one of url, urlTemplate and openapi/],
    ['http: [{ url: "https://a.example/", openapi: x }]', /an entry has one of url, urlTemplate and openapi/],
    ['http: [{ url: "https://a.example/", variables: { a: { values: [x] } } }]', /belongs to a urlTemplate/],
    ['http: [{ url: "https://a.example/", server: "https://a.example/" }]', /belongs to an openapi document/],
    ['http: [{ urlTemplate: "https://a.example/{x}", feed: true }]', /belongs to a url/],
    ['http: [{ url: "https://a.example/", headers: { "a b": x } }]', /cannot be the name of a header/],
    ['http: "https://a.example/", polSeconds: 5', /unknown key "polSeconds" in mounts\.a; did you mean "pollSeconds"/],
    ['http: []', /mounts\.a\.http/],
  ])('%s is reported', (block, message) => {
    expect(() => parse(`  a: { ${block} }`)).toThrow(message);
  });

  it.each([
    '"https://me:pw12@a.example/x"',
    '[{ url: "https://me:pw12@a.example/x" }]',
    '[{ openapi: "https://me:pw12@a.example/api.json" }]',
    '[{ openapi: "https://pw12@a.example/api.json", server: "https://a.example" }]',
    '[{ openapi: "HTTPS:\\\\me:pw12@a.example/api.json" }]',
    '[{ openapi: "https:/:pw12@a.example/api.json" }]',
    '[{ openapi: "https://me:pw12@/api.json" }]',
    '[{ openapi: "ftp://me:pw12@a.example/api.json" }]',
    '[{ openapi: ./api.yaml, server: "https://me:pw12@a.example/" }]',
    '[{ urlTemplate: "https://me:pw12@a.example/{id}" }]',
    '[{ urlTemplate: "https://me:pw12@{host}/" }]',
  ])('a user or a password in a URL is refused, and not shown: %s', async (http) => {
    const refusal = /has a user or a password in it; say them in headers/;
    expect(() => parse(`  a: { http: ${http} }`)).toThrow(refusal);
    expect(() => parse(`  a: { http: ${http} }`)).not.toThrow(/pw12/);
    const opened = httpProvider({ http: load(http) as never });
    await expect(opened).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(refusal) });
    await expect(opened).rejects.not.toThrow(/pw12/);
  });

  it.each(['a@b/api.yaml', './me:pw@x.yaml', 'https://a.example/@me/api.json', 'https://a.example/?x=me:pw@b'])(
    'a document may have an @ elsewhere: %s',
    (openapi) => {
      expect(() => parse(`  a: { http: [{ openapi: "${openapi}" }] }`)).not.toThrow();
    },
  );

  it.each<[string, Parameters<typeof httpProvider>[0]]>([
    ['a template without a fixed host', { http: [{ urlTemplate: 'https://{host}/' }] }],
    ['credentials for several origins', { http: ['https://a.example', 'https://b.example'], query: { key: 'x' } }],
    ['credentials without an origin', { http: [{ openapi: './missing.yaml', headers: { 'X-Key': 'x' } }] }],
    ['a missing document', { http: [{ openapi: './missing.yaml', server: 'https://a.example' }] }],
    ['an invalid range', { http: 'https://a.example', allowPrivate: ['10.0.0.0/99'] }],
  ])('%s is refused when the provider is opened', async (_what, options) => {
    await expect(httpProvider(options)).rejects.toMatchObject({ code: 'invalid' });
  });
});
