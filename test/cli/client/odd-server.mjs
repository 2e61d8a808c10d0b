/**
 * A server of the 2025 era without a library, so that it can send odd messages. It uses standard input and output; with
 * `--http` it serves over HTTP, for clients with the right token, at the address that it prints.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

/** One black pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';
const HOSTILE = '\u001b]0;owned\u0007evil\u001b[31m\u202e\u200b\u009b2Jname\nsecond';

const RESOURCES = [
  { uri: 'odd:///plain.txt', name: 'plain.txt', mimeType: 'text/plain', size: 14 },
  { uri: 'odd:///evil', name: HOSTILE, title: HOSTILE, description: HOSTILE, mimeType: `text/plain${HOSTILE}` },
  { uri: 'odd:///dot.png', name: 'dot.png', mimeType: 'image/png' },
  { uri: 'odd:///bytes', name: 'bytes', mimeType: 'application/octet-stream' },
  { uri: 'odd:///formats', name: 'formats', _meta: { 'vitrine/formats': [{ mimeType: 'text/markdown', size: 3 }] } },
  { uri: 'elsewhere:thing', name: 'thing' },
];

const TEXT = { type: 'string' };
const TOOLS = [
  {
    name: 'echo',
    description: `Says what it is told.${HOSTILE}`,
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      properties: { text: { ...TEXT, description: 'The words' }, count: { type: 'integer' }, tags: { type: 'array' } },
      required: ['text'],
    },
  },
  { name: 'ask', inputSchema: { type: 'object' } },
  { name: 'fail', inputSchema: { type: 'object' } },
  { name: 'environment', inputSchema: { type: 'object', properties: { name: TEXT } } },
];

class Refusal extends Error {
  constructor(code, message, data) {
    super(message);
    Object.assign(this, { code, data });
  }
}

const contents = {
  'odd:///plain.txt': (uri) => [{ uri, text: 'one\ntwo\nthree\n' }],
  'odd:///evil': (uri) => [{ uri, text: 'before\u001b[2J\u001b]52;c;aGk=\u0007\u009b31m after\u202e' }],
  'odd:///dot.png': (uri) => [{ uri, mimeType: 'image/png', blob: PNG }],
  'odd:///bytes': (uri) => [{ uri, mimeType: 'application/octet-stream', blob: 'AAECA//+' }],
  'odd:///formats': (uri) => [
    { uri, mimeType: 'text/markdown', text: '# x' },
    { uri, mimeType: 'text/html', text: '<h1>x</h1>' },
  ],
  'odd:///large': (uri) => [{ uri, text: 'x'.repeat(100_000) }],
  'odd:///silent': () => new Promise(() => {}),
  'odd:///denied': () => {
    throw new Refusal(-32003, 'Not for you', { reason: 'denied' });
  },
  'odd:///broken': () => {
    throw new Refusal(-32603, 'It broke');
  },
  'odd:///rude': () => {
    throw new Refusal(-32603, `It broke${HOSTILE}`);
  },
};

/**
 * @param {(message: object) => void} send sends a notification
 * @param {(method: string, params: object) => Promise<object>} ask sends a request
 */
function answerer(send, ask) {
  const calls = {
    echo: async (given) => ({
      content: [
        { type: 'text', text: `${JSON.stringify(given)}\u001b[5m` },
        { type: 'image', mimeType: 'image/png', data: PNG },
        { type: 'resource_link', uri: 'odd:///plain.txt', name: HOSTILE },
        { type: 'resource', resource: { uri: 'odd:///plain.txt', text: 'one\ntwo' } },
        { type: 'unheard-of', value: 1 },
      ],
    }),
    ask: async () => {
      const requestedSchema = { type: 'object', properties: { color: TEXT }, required: ['color'] };
      const answer = await ask('elicitation/create', { message: `Which color?${HOSTILE}`, requestedSchema });
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    },
    fail: async () => ({ isError: true, content: [{ type: 'text', text: 'It cannot be done' }] }),
    environment: async ({ name }) => ({ content: [{ type: 'text', text: String(process.env[name]) }] }),
  };
  return async (method, params = {}) => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-11-25',
          capabilities: { resources: { subscribe: true, listChanged: true }, tools: {}, prompts: {} },
          serverInfo: { name: `odd${HOSTILE}`, version: '1' },
          instructions: `Be kind.${HOSTILE}`,
        };
      case 'ping':
        return {};
      case 'resources/list':
        return { resources: RESOURCES };
      case 'resources/templates/list':
        return { resourceTemplates: [{ uriTemplate: 'odd:///{name}', name: HOSTILE, description: 'By its name' }] };
      case 'resources/read': {
        const content = contents[params.uri];
        if (content === undefined) throw new Refusal(-32002, 'There is none');
        return { contents: await content(params.uri) };
      }
      case 'resources/subscribe':
        setTimeout(() => changes(params.uri, send), 20);
        return {};
      case 'resources/unsubscribe':
        return {};
      case 'tools/list':
        return params.cursor === undefined ? { tools: TOOLS.slice(0, 2), nextCursor: '2' } : { tools: TOOLS.slice(2) };
      case 'tools/call':
        return calls[params.name](params.arguments ?? {});
      case 'prompts/list':
        return { prompts: [{ name: 'greet', description: HOSTILE, arguments: [{ name: 'who', required: true }] }] };
      case 'prompts/get': {
        const text = `Hello ${params.arguments.who}\u001b[31m`;
        return { messages: [{ role: 'user', content: { type: 'text', text } }] };
      }
      default:
        throw new Refusal(-32601, 'Method not found');
    }
  };
}

/** Reports a change. If `ODD_MARKER` is set, the first subscription to `dies` ends the program instead. */
function changes(uri, send) {
  const marker = process.env.ODD_MARKER;
  if (uri === 'odd:///dies' && marker !== undefined && !existsSync(marker)) {
    writeFileSync(marker, '');
    process.exit(0);
  }
  send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });
}

async function replyTo({ id, method, params }, answer) {
  try {
    return { jsonrpc: '2.0', id, result: await answer(method, params) };
  } catch ({ code = -32603, message, data }) {
    return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
  }
}

function overStdio() {
  const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const waiting = new Map();
  let asked = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = `question-${++asked}`;
      waiting.set(id, resolve);
      send({ jsonrpc: '2.0', id, method, params });
    });
  const answer = answerer(send, ask);
  process.stderr.write('odd says hello\u001b[31m\n');
  createInterface({ input: process.stdin })
    .on('line', async (line) => {
      const message = JSON.parse(line);
      if (message.method === undefined) waiting.get(message.id)?.(message.result ?? message.error);
      else if (message.id !== undefined) send(await replyTo(message, answer));
    })
    .on('close', () => process.exit(0));
}

function overHttp() {
  const answer = answerer(
    () => {},
    async () => ({}),
  );
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== 'Bearer let-me-in') return response.writeHead(401).end();
    if (request.method !== 'POST') return response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = JSON.parse(body);
    if (message.id === undefined) return response.writeHead(202).end();
    const reply = await replyTo(message, answer);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (process.argv.includes('--http')) overHttp();
else overStdio();
