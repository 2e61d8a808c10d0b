/** Documents of APIs, feeds, pages. */
import { stringify } from 'yaml';
import { filled, numbered } from './hostile.mjs';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** A schema with many names and many values. */
const largeSchema = (count) => ({
  type: 'string',
  enum: Array.from({ length: count }, (_, at) => `value-${at}`),
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`property-${at}`, { type: 'string' }])),
});

function sharing(operations, schema, extra = {}) {
  const parameter = { name: 'q', in: 'query', schema: { $ref: '#/components/schemas/Large' } };
  const get = {
    parameters: [{ $ref: '#/components/parameters/Q' }],
    responses: { 200: { $ref: '#/components/responses/R' } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'x' },
    servers: [{ url: '/' }],
    paths: Object.fromEntries(
      Array.from({ length: operations }, (_, at) => [
        `/p${at}/{id}`,
        {
          parameters: [{ name: 'id', in: 'path', required: true, schema: { $ref: '#/components/schemas/Large' } }],
          get,
        },
      ]),
    ),
    components: {
      schemas: { Large: schema },
      parameters: { Q: parameter },
      responses: { R: { content: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`type/a${at}`, {}])) } },
      ...extra,
    },
  };
}

const api = (paths, components = {}) => ({ openapi: '3.0.0', servers: [{ url: '/' }], paths, components });
const chain = (length) => ({
  schemas: Object.fromEntries(
    Array.from({ length }, (_, at) => [`S${at}`, { $ref: `#/components/schemas/S${(at + 1) % length}` }]),
  ),
});
const pointing = (count, to) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `/p${at}`,
      {
        get: {
          parameters: Array.from({ length: 20 }, (_unused, q) => ({
            name: `q${q}`,
            in: 'query',
            schema: { $ref: to },
          })),
        },
      },
    ]),
  );
const HEAD = 'openapi: 3.1.0\nservers: [{url: /}]\n';

const DOCUMENTS = () => ({
  'small, for comparison': JSON.stringify(sharing(20, largeSchema(10))),
  'operations that share a large schema (JSON)': JSON.stringify(sharing(2_000, largeSchema(2_000))),
  'operations that share a large schema (YAML)': stringify(sharing(1_000, largeSchema(2_000)), {
    aliasDuplicateObjects: false,
  }),
  'operations that share a path item of parameters': JSON.stringify(
    api(
      Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`/p${at}`, { $ref: '#/components/pathItems/P' }])),
      {
        pathItems: {
          P: {
            get: {},
            parameters: Array.from({ length: 20_000 }, (_, at) => ({ name: `q${at}`, in: 'query', schema: {} })),
          },
        },
      },
    ),
  ),
  'chains of references': JSON.stringify(api(pointing(1_000, '#/components/schemas/S0'), chain(10_000))),
  'circles of references': JSON.stringify(api(pointing(1_000, '#/components/schemas/S0'), chain(5))),
  'long pointers': JSON.stringify(api(pointing(1_000, `#${'/a'.repeat(500)}`))),
  'deep nesting (JSON)': `{"openapi":"3.0.0","paths":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_001)}`,
  'deep nesting (YAML)': `${HEAD}paths: ${'['.repeat(200_000)}`,
  'a huge enum': JSON.stringify(
    api({
      '/a/{b}': {
        get: {
          parameters: [
            {
              name: 'b',
              in: 'path',
              required: true,
              schema: { enum: Array.from({ length: 300_000 }, (_, at) => `v${at}`) },
            },
          ],
        },
      },
    }),
  ),
  'many enums': JSON.stringify(
    api(
      Object.fromEntries(
        Array.from({ length: 1_000 }, (_, at) => [
          `/p${at}`,
          {
            get: {
              parameters: [
                {
                  name: 'q',
                  in: 'query',
                  schema: { enum: Array.from({ length: 900 }, (_unused, value) => `${value}`) },
                },
              ],
            },
          },
        ]),
      ),
    ),
  ),
  'long names': JSON.stringify(
    api(
      Object.fromEntries(
        Array.from({ length: 2_000 }, (_, at) => [`/${at}${'x'.repeat(3_900)}`, { get: { summary: 's'.repeat(100) } }]),
      ),
    ),
  ),
  'a path of a megabyte': JSON.stringify(
    api({ [`/${filled(MIB, '{a')}`]: { get: {} }, [`/${filled(MIB, '{a}')}`]: { get: {} } }),
  ),
  'names of parameters, shared': JSON.stringify(
    api(pointing(1, '#/x'), {}) && {
      ...api(
        Object.fromEntries(
          Array.from({ length: 2_000 }, (_, at) => [
            `/p${at}`,
            { get: { parameters: Array.from({ length: 150 }, (_unused, q) => ({ $ref: `#/c/${q}` })) } },
          ]),
        ),
      ),
      c: Object.fromEntries(
        Array.from({ length: 150 }, (_, q) => [q, { name: `${q}${'é'.repeat(250)}`, in: 'query', schema: {} }]),
      ),
    },
  ),
  'small values (JSON)': `{"openapi":"3.0.0","paths":{},"x":[${filled(7 * MIB, '{},')}0]}`,
  'one long text (JSON)': JSON.stringify({ openapi: '3.0.0', paths: {}, x: 'x'.repeat(7 * MIB) }),
  'a bomb of aliases (YAML)': `${HEAD}a: &a0 [x,x]\n${Array.from({ length: 30 }, (_, at) => `b${at}: &a${at + 1} [${filled(40, `*a${at},`)}]\n`).join('')}paths: {}\n`,
  'many aliases (YAML)': `${HEAD}${numbered(60 * KIB, (at) => `a${at}: &a${at} 1\n`)}b: [${numbered(200 * KIB, (at) => `*a${at % 4_000},`)}]\npaths: {}\n`,
  'merge keys (YAML)': `${HEAD}a: &a {${numbered(60 * KIB, (at) => `k${at}: 1, `)}}\n${Array.from({ length: 90 }, (_, at) => `m${at}: {<<: *a}\n`).join('')}paths: {}\n`,
  'many keys (YAML)': `${HEAD}${numbered(443 * KIB, (at) => `k${at}: 1\n`)}paths: {}\n`,
  'many keys in braces (YAML)': `${HEAD}x: {${numbered(443 * KIB, (at) => `k${at}: 1,`)}}\npaths: {}\n`,
  'the same key (YAML)': `${HEAD}${filled(443 * KIB, 'k: 1\n')}paths: {}\n`,
  'many tags (YAML)': `${HEAD}x: [${numbered(200 * KIB, (at) => `!t${at} 1,`)}]\npaths: {}\n`,
  'blank lines (YAML)': `${HEAD}${filled(2 * MIB, '\n')}paths: {}\n`,
  'large (YAML)': `${HEAD}${numbered(7 * MIB, (at) => `k${at}: some text that goes on for a while\n`)}paths: {}\n`,
  'too large': `{"x":"${'x'.repeat(9 * MIB)}"}`,
  'no document': `${filled(MIB, '@%&')}`,
});

const rss = (inside) => `<rss version="2.0"><channel><title>x</title>${inside}</channel></rss>`;
const SIZE = 2 * MIB - 4 * KIB;

const FEEDS = () => ({
  'small, for comparison': [rss(filled(4 * KIB, '<item><title>a</title><link>/a</link></item>')), 'rss'],
  items: [rss(numbered(SIZE, (at) => `<item><title>a</title><link>/${at}</link><guid>${at}</guid></item>`)), 'rss'],
  'empty items': [rss(filled(SIZE, '<item/>')), 'rss'],
  'other elements': [rss(filled(SIZE, '<a></a>')), 'rss'],
  'deep nesting': [rss(`${'<a>'.repeat(250_000)}${'</a>'.repeat(250_000)}`), 'rss'],
  'never closed': [rss(filled(SIZE, '<a>')), 'rss'],
  'many attributes': [rss(`<item ${numbered(SIZE, (at) => `a${at}="1" `)}/>`), 'rss'],
  'many names': [rss(`<item ${numbered(SIZE, (at) => `xmlns:a${at}="http://a/${at}" `)}/>`), 'rss'],
  entities: [rss(`<item><guid>1</guid><title>${filled(SIZE, '&amp;')}</title></item>`), 'rss'],
  'defined entities': [
    `<!DOCTYPE a [${numbered(MIB, (at) => `<!ENTITY a${at} "aaaaaaa">`)}]>${rss(`<item><guid>1</guid><title>${filled(MIB, '&a1;')}</title></item>`)}`,
    'rss',
  ],
  'a long CDATA': [
    rss(
      `<item><guid>1</guid><link>http://a/</link><content:encoded><![CDATA[${'x'.repeat(SIZE)}]]></content:encoded></item>`,
    ),
    'rss',
  ],
  'entries that are escaped': [
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      items: Array.from({ length: 1_500 }, (_, at) => ({ id: `${at}`, content_text: '&'.repeat(1_300) })),
    }),
    'json',
  ],
  'an Atom feed': [
    `<feed xmlns="http://www.w3.org/2005/Atom">${numbered(SIZE, (at) => `<entry><id>${at}</id><updated>2026-11-02T10:00:00Z</updated></entry>`)}</feed>`,
    'atom',
  ],
  'a JSON feed': [
    `{"version":"https://jsonfeed.org/version/1.1","items":[${numbered(SIZE, (at) => `{"id":"${at}"},`)}{}]}`,
    'json',
  ],
  'deep JSON': [
    `{"version":"https://jsonfeed.org/version/1.1","items":${'['.repeat(MIB)}${']'.repeat(MIB - KIB)}}`,
    'json',
  ],
  'too large': [rss(filled(3 * MIB, '<item/>')), 'rss'],
});

const FEED_TYPES = { rss: 'application/rss+xml', atom: 'application/atom+xml', json: 'application/feed+json' };

/** @param {import('./hostile.mjs').Hostile} hostile */
export function webCases({ origin, on }) {
  const documents = Object.entries(DOCUMENTS()).map(([name, body]) => ({
    name: `OpenAPI: ${name}`,
    bytes: Buffer.byteLength(body),
    mounts: { web: { http: [{ openapi: `${origin}/document` }], prefix: 'none' } },
    open: () => on('/document', { body, type: 'text/plain' }),
    ask: [
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: `${origin}/nothing/such` }],
    ],
  }));
  const feeds = Object.entries(FEEDS()).map(([name, [body, kind]]) => ({
    name: `feed: ${name}`,
    bytes: Buffer.byteLength(body),
    mounts: { web: { http: [{ url: `${origin}/feed`, feed: true }], prefix: 'none' } },
    open: () => on('/feed', { body, type: FEED_TYPES[kind] }),
    ask: [
      ['resources/list', { uri: `${origin}/feed` }],
      ['resources/read', { uri: `${origin}/feed` }],
    ],
  }));
  const pages = Object.entries({
    'HTML, deep': ['<div>'.repeat(600_000), 'text/html'],
    'JSON, 6 MiB of small values': [`[${filled(6 * MIB, '{},')}0]`, 'application/json'],
    'text of one line': ['x'.repeat(6 * MIB), 'text/plain'],
    'text of empty lines': ['\n'.repeat(6 * MIB), 'text/plain'],
    'invalid UTF-8': [Buffer.alloc(6 * MIB, 0xff), 'text/plain'],
  }).map(([name, [body, type]]) => ({
    name: `page: ${name}`,
    bytes: Buffer.byteLength(body),
    mounts: { web: { http: [{ url: `${origin}/page` }], prefix: 'none' } },
    open: () => on('/page', { body, type }),
    ask: [
      ['resources/read', { uri: `${origin}/page` }],
      ['tools/call', { name: 'read', arguments: { uri: `${origin}/page` } }],
      ['tools/call', { name: 'search', arguments: { pattern: '(a|x)+y$' } }],
    ],
  }));
  return [...documents, ...feeds, ...pages];
}
