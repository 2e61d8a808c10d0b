/** Messages of another MCP server, over HTTP and over its standard output. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../lib/folders.mjs';
import { processFile } from '../lib/processes.mjs';
import { filled } from './hostile.mjs';

const MIB = 1024 * 1024;
const tool = (at, more = {}) => ({ name: `tool-${at}`, inputSchema: { type: 'object' }, ...more });
const tools = (count, more) => JSON.stringify({ tools: Array.from({ length: count }, (_, at) => tool(at, more)) });
const deep = (levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** The most entries and fields of one message by default, and of one result, less some for those around the measured entries. */
const VALUES = 200_000 - 100;
const RESULT_VALUES = 100_000 - 100;

/** How many values more a field's name counts for when it comes for the first time. */
const NEW_NAME = 3;

/** As many of an entry as one answer may have. @param names fields in each that no other one has */
function many(make, { values: most = VALUES, names = 0 } = {}) {
  const each = JSON.stringify(make(100_000));
  const values = [...each.matchAll(/"(?:[^"\\]|\\.)*"|[,[{]/g)].filter(([token]) => !token.startsWith('"')).length;
  return Array.from({ length: Math.floor(most / (values + 1 + NEW_NAME * names)) }, (_, at) => make(at));
}

/** Just as much as an answer may have in it. */
const AT_THE_LIMIT = () => ({
  'at the limit: resources': [
    'resources/list',
    {
      resources: many((at) => ({
        uri: `memo:${at}`,
        name: `resource-${at}`,
        title: `The resource ${at}`,
        description: `What there is to be said of resource ${at}`,
        mimeType: 'text/plain',
        size: at,
        annotations: { priority: 0.5, audience: ['user'] },
      })),
    },
  ],
  'at the limit: tools': [
    'tools/list',
    {
      tools: many((at) =>
        tool(at, {
          description: `Does ${at}`,
          inputSchema: {
            type: 'object',
            properties: { a: { type: 'string', description: `Of ${at}` } },
            required: ['a'],
          },
        }),
      ),
    },
  ],
  'at the limit: a schema of empty values': [
    'tools/list',
    { tools: [tool('t', { inputSchema: { type: 'object', x: many(() => ({})) } })] },
  ],
  'at the limit: a schema of properties': [
    'tools/list',
    {
      tools: [
        tool('t', {
          inputSchema: {
            type: 'object',
            properties: Object.fromEntries(
              many((at) => ({ type: 'string', description: `Of ${at}` }), { names: 1 }).map((each, at) => [
                `property-${at}`,
                each,
              ]),
            ),
          },
        }),
      ],
    },
  ],
  'at the limit: a schema of names': [
    'tools/list',
    { tools: [tool('t', { inputSchema: { type: 'object', x: many((at) => ({ [`key-${at}`]: 0 }), { names: 1 }) } })] },
  ],
  'at the limit: prompts': [
    'prompts/list',
    { prompts: many((at) => ({ name: `p-${at}`, description: `Says ${at}`, arguments: [{ name: 'a' }] })) },
  ],
  'at the limit: templates': [
    'resources/templates/list',
    { resourceTemplates: many((at) => ({ uriTemplate: `memo:${at}/{a}`, name: `t-${at}` })) },
  ],
  'at the limit: contents': ['resources/read', { contents: many((at) => ({ uri: `memo:b/${at}`, text: 'a' })) }],
  'at the limit: a content of empty values': [
    'resources/read',
    { contents: [{ uri: 'memo:b', text: 'a', _meta: { x: many(() => ({})) } }] },
  ],
  'at the limit: blocks': ['tools/call', { content: many((at) => ({ type: 'text', text: `Block ${at}` })) }],
  'at the limit: links': [
    'tools/call',
    { content: many((at) => ({ type: 'resource_link', uri: `memo:${at}`, name: `${at}` })) },
  ],
  'at the limit: structured content': [
    'tools/call',
    {
      content: [],
      structuredContent: {
        rows: many((at) => ({ id: at, name: `Row ${at}`, a: 1, b: true, c: null }), { values: RESULT_VALUES }),
      },
    },
  ],
  'at the limit: structured content of empty values': [
    'tools/call',
    { content: [], structuredContent: { x: many(() => ({}), { values: RESULT_VALUES }) } },
  ],
  'at the limit: messages': [
    'prompts/get',
    { messages: many((at) => ({ role: 'user', content: { type: 'text', text: `Message ${at}` } })) },
  ],
  'at the limit: completions': ['completion/complete', { completion: { values: many((at) => `value-${at}`) } }],
});

/** The results, as text, by the names of their cases, each after the method that it answers. */
const RESULTS = () => ({
  ...Object.fromEntries(
    Object.entries(AT_THE_LIMIT()).map(([name, [method, result]]) => [name, [method, JSON.stringify(result)]]),
  ),
  'small, for comparison': ['tools/list', tools(10)],
  'many tools': ['tools/list', tools(100_000)],
  'a large schema': [
    'tools/list',
    `{"tools":[{"name":"t","inputSchema":{"type":"object","x":[${filled(8 * MIB, '{},')}0]}}]}`,
  ],
  'a deep schema': ['tools/list', `{"tools":[{"name":"t","inputSchema":{"type":"object","x":${deep(100_000)}}}]}`],
  'many resources': [
    'resources/list',
    `{"resources":[${filled(20 * MIB, '{"uri":"memo:a","name":"a"},')}{"uri":"memo:b","name":"b"}]}`,
  ],
  'small values': ['resources/list', `{"resources":[],"_meta":{"x":[${filled(20 * MIB, '0,')}0]}}`],
  'a long name': ['resources/list', `{"resources":[{"uri":"memo:b","name":"${'x'.repeat(20 * MIB)}"}]}`],
  'many templates': [
    'resources/templates/list',
    `{"resourceTemplates":[${filled(8 * MIB, '{"uriTemplate":"memo:{a}","name":"a"},')}{"uriTemplate":"memo:{b}","name":"b"}]}`,
  ],
  'many prompts': ['prompts/list', `{"prompts":[${filled(8 * MIB, '{"name":"a"},')}{"name":"b"}]}`],
  'a long text': ['resources/read', `{"contents":[{"uri":"memo:b","text":"${'x'.repeat(6 * MIB)}"}]}`],
  'many contents': [
    'resources/read',
    `{"contents":[${filled(8 * MIB, '{"uri":"memo:b","text":""},')}{"uri":"memo:b","text":""}]}`,
  ],
  'a result of small values': ['tools/call', `{"content":[],"structuredContent":{"x":[${filled(20 * MIB, '{},')}0]}}`],
  'a result of many blocks': [
    'tools/call',
    `{"content":[${filled(20 * MIB, '{"type":"text","text":""},')}{"type":"text","text":""}]}`,
  ],
});

const ASKED = {
  'tools/list': ['tools/list', {}],
  'resources/list': ['resources/list', {}],
  'resources/templates/list': ['resources/templates/list', {}],
  'prompts/list': ['prompts/list', {}],
  'resources/read': ['resources/read', { uri: 'up+memo:b' }],
  'tools/call': ['tools/call', { name: 'up_t', arguments: {} }],
  'prompts/get': ['prompts/get', { name: 'up_p', arguments: {} }],
  'completion/complete': [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'up+memo:{a}' }, argument: { name: 'a', value: '' } },
  ],
};

/** The shortest answer that says nothing, for all other requests. */
const NOTHING = {
  'tools/list': tools(1, { name: 't' }),
  'resources/list': '{"resources":[]}',
  'resources/templates/list': '{"resourceTemplates":[{"uriTemplate":"memo:{a}","name":"a"}]}',
  'prompts/list': '{"prompts":[{"name":"p"}]}',
};

const INITIALIZED = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  serverInfo: { name: 'hostile', version: '1' },
});

/** @param {import('./hostile.mjs').Hostile} hostile */
export async function upstreamCases({ origin, on }) {
  const folder = temporaryFolder();
  return Object.entries(RESULTS()).flatMap(([name, [method, result]], at) => {
    const results = { ...NOTHING, initialize: INITIALIZED, [method]: result };
    const file = join(folder, `${at}.json`);
    writeFileSync(file, JSON.stringify(results));
    const common = { bytes: Buffer.byteLength(result), ask: [ASKED[method]] };
    return [
      {
        ...common,
        name: `upstream over HTTP: ${name}`,
        mounts: { up: { url: `${origin}/mcp`, start: 'lazy' } },
        open: () => on('/mcp', answering(results)),
      },
      {
        ...common,
        name: `upstream over stdio: ${name}`,
        mounts: { up: { command: process.execPath, args: [processFile('hostile-stdio'), file], start: 'lazy' } },
      },
    ];
  });
}

/** @returns {import('./hostile.mjs').Answer} */
const answering = (results) => (request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.once('end', () => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (id === undefined) return response.writeHead(202).end();
    const result = results[method];
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(
      result === undefined
        ? JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })
        : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`,
    );
  });
};
