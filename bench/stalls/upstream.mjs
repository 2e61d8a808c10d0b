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

/** By the method that they answer: results, as text. */
const RESULTS = () => ({
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
};

/** What else it is asked: the answer that says as little as can be said. */
const NOTHING = {
  'tools/list': tools(1, { name: 't' }),
  'resources/list': '{"resources":[]}',
  'resources/templates/list': '{"resourceTemplates":[]}',
  'prompts/list': '{"prompts":[]}',
};

const INITIALIZED = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {} },
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
