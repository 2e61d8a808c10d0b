/** A server without mistakes, over HTTP and in both eras. It uses no SDK, so that a test can change each part of its behaviour. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileEntry } from '../client/skills/entries.ts';

export type Params = Readonly<Record<string, unknown>>;
export type Era = 'legacy' | 'modern';

/** The answer: a result, an error, or nothing at all. */
export type Outcome =
  | { readonly result: Params }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | undefined;

/** The differences from a good server. */
export interface Fault {
  /** @param usual what a good server answers */
  readonly answer?: ((method: string, params: Params, usual: () => Outcome, era: Era) => Outcome) | undefined;
  /** May answer a request instead of the good server. Returns whether it did. */
  readonly http?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
  /** Gives the id of an answer, from the id of the request. */
  readonly id?: (id: unknown) => unknown;
  /** Checks of HTTP requests that the server leaves out. */
  readonly leaves?: readonly ('origin' | 'host' | 'media-type' | 'size' | 'session' | 'version' | 'header')[];
  /** The id of every session. */
  readonly session?: string;
  readonly contentType?: string;
}

export interface Served extends AsyncDisposable {
  readonly url: string;
  /** The methods of the requests so far. */
  readonly asked: readonly string[];
}

const NOTE = 'behind glass\n';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const error = (code: number, message: string, data?: unknown): Outcome => ({ error: { code, message, data } });

export const capabilities = {
  resources: { subscribe: true, listChanged: true },
  tools: {},
  prompts: {},
  completions: {},
  extensions: { 'vitrine/resource-metadata': {}, 'io.modelcontextprotocol/skills': { directoryRead: true } },
};

const plain = { list: false, subscribe: true };

export const RESOURCES = [
  {
    uri: 'x:///note.txt',
    name: 'note.txt',
    mimeType: 'text/plain',
    size: NOTE.length,
    capabilities: plain,
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-02T03:04:05Z' },
    icons: [{ src: 'https://example.com/a.png', mimeType: 'image/png', sizes: ['48x48', 'any'], theme: 'dark' }],
  },
  { uri: 'x:///pixel.png', name: 'pixel.png', mimeType: 'image/png', size: 70, capabilities: plain },
  { uri: 'x:///folder', name: 'folder', mimeType: 'inode/directory', capabilities: { list: true, subscribe: false } },
] as const;

export const TOOLS = [
  {
    name: 'count',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    annotations: { readOnlyHint: true },
  },
];

export const PROMPTS = [{ name: 'hello' }, { name: 'greet', arguments: [{ name: 'who', required: true }] }];

const TEMPLATES = [{ uriTemplate: 'x:///notes/{name}', name: 'notes' }];

const SKILL_TEXTS: Readonly<Record<string, string>> = {
  'skill://draw/SKILL.md': '---\nname: draw\ndescription: Draws rooms\n---\nDraw\n',
  'skill://draw/rooms.txt': 'two',
};

/** A skill with two files, and a dynamic one. */
export const SKILLS = [
  {
    uri: 'skill://draw/SKILL.md',
    frontmatter: { name: 'draw', description: 'Draws rooms' },
    resources: Object.entries(SKILL_TEXTS).map(([uri, text]) => fileEntry(uri, text)),
  },
  { uri: 'skill://today/SKILL.md', frontmatter: { name: 'today', description: 'Of today' }, resources: 'dynamic' },
];

/** Gives the answer of a good server. */
function usual(method: string, params: Params, era: Era): Outcome {
  const { uri, cursor, name } = params;
  const found = RESOURCES.find((each) => each.uri === uri);
  const missing = (): Outcome => error(-32_602, 'Resource not found', { uri });
  const page = (field: string, entries: readonly unknown[]): Outcome =>
    cursor === undefined ? { result: { [field]: entries } } : error(-32_602, 'Invalid cursor');
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'good', version: '1' } } };
    case 'server/discover': {
      const meta = { 'io.modelcontextprotocol/serverInfo': { name: 'good', version: '1' } };
      return { result: { supportedVersions: ['2026-07-28'], capabilities, _meta: meta } };
    }
    case 'ping':
      return era === 'legacy' ? { result: {} } : error(-32_601, 'Method not found');
    case 'resources/list':
      if (uri !== undefined) return found === undefined ? missing() : { result: { resources: [] } };
      if (cursor === undefined) return { result: { resources: RESOURCES.slice(0, 2), nextCursor: 'more' } };
      return cursor === 'more' ? { result: { resources: RESOURCES.slice(2) } } : error(-32_602, 'Invalid cursor');
    case 'resources/metadata':
      return found === undefined ? missing() : { result: { resource: found } };
    case 'skills/list':
      return page('skills', SKILLS);
    case 'skills/get': {
      const skill = SKILLS.find((each) => each.uri === uri);
      return skill === undefined ? missing() : { result: { skill } };
    }
    case 'resources/directory/read': {
      const inside = [...Object.keys(SKILL_TEXTS), 'skill://today/SKILL.md'].filter((each) =>
        each.startsWith(`${uri}/`),
      );
      return inside.length === 0
        ? missing()
        : { result: { resources: inside.map((each) => ({ uri: each, name: each })) } };
    }
    case 'resources/read': {
      const text = SKILL_TEXTS[String(uri)];
      if (text !== undefined) return { result: { contents: [{ uri, text }] } };
      if (found === undefined) return missing();
      const { mimeType } = found;
      const content = mimeType === 'image/png' ? { blob: PIXEL } : { text: NOTE };
      return { result: { contents: [{ uri, mimeType, ...content }] } };
    }
    case 'resources/templates/list':
      return page('resourceTemplates', TEMPLATES);
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return found === undefined ? missing() : { result: {} };
    case 'tools/list':
      return page('tools', TOOLS);
    case 'tools/call':
      if (name !== 'count') return error(-32_602, 'Unknown tool');
      return { result: { content: [{ type: 'text', text: '1' }], structuredContent: { count: 1 } } };
    case 'prompts/list':
      return page('prompts', PROMPTS);
    case 'prompts/get':
      if (!PROMPTS.some((each) => each.name === name)) return error(-32_602, 'Unknown prompt');
      return { result: { messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }] } };
    case 'completion/complete': {
      const ref = params.ref as Params | undefined;
      const known = ref?.uri === TEMPLATES[0]?.uriTemplate || PROMPTS.some((each) => each.name === ref?.name);
      return known ? { result: { completion: { values: ['a', 'b'] } } } : error(-32_602, 'Unknown reference');
    }
    default:
      return error(-32_601, 'Method not found');
  }
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const MAX_BODY = 1024 * 1024;

export async function serveGood(fault: Fault = {}): Promise<Served> {
  const asked: string[] = [];
  const sessions = new Set<string>();
  const leaves = new Set(fault.leaves);
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request, leaves.has('size'));
    if (body !== undefined && fault.http?.(request, response, body) === true) return;
    const { headers } = request;
    const send = (status: number, value?: unknown, more: Readonly<Record<string, string>> = {}): void => {
      const type = fault.contentType ?? 'application/json';
      response.writeHead(status, { ...(value !== undefined && { 'content-type': type }), ...more });
      response.end(value === undefined ? undefined : JSON.stringify(value));
    };
    const refuse = (status: number, code: number, message: string, data?: unknown): void =>
      send(status, { jsonrpc: '2.0', id: null, error: { code, message, data } });
    if (headers.origin !== undefined && !leaves.has('origin')) return refuse(403, -32_000, 'Origin');
    if (!/^127\.0\.0\.1:/.test(headers.host ?? '') && !leaves.has('host')) return refuse(403, -32_000, 'Host');
    if (body === undefined) return refuse(413, -32_000, 'Too large');
    const session = headers['mcp-session-id'];
    const modern = headers['mcp-protocol-version'] === '2026-07-28' || headers['mcp-method'] !== undefined;
    if (typeof session === 'string' && !sessions.has(session) && !leaves.has('session')) {
      return refuse(404, -32_001, 'Session not found');
    }
    if (request.method === 'GET') return send(405);
    if (request.method === 'DELETE') {
      sessions.delete(String(session));
      return send(204);
    }
    if (headers['content-type'] !== 'application/json' && !leaves.has('media-type'))
      return refuse(415, -32_000, 'Type');
    let message: Params;
    try {
      message = JSON.parse(body) as Params;
    } catch {
      return refuse(400, -32_700, 'Parse error');
    }
    const { id, method } = message as { readonly id?: unknown; readonly method: string };
    const params = (message.params ?? {}) as Params;
    const version = modern ? (params._meta as Params | undefined)?.[VERSION_KEY] : headers['mcp-protocol-version'];
    const expected = modern ? '2026-07-28' : '2025-11-25';
    if (version !== undefined && version !== expected && !leaves.has('version')) {
      return refuse(400, -32_022, 'Unsupported', { supported: [expected], requested: version });
    }
    if (modern && headers['mcp-method'] !== method && !leaves.has('header')) return refuse(400, -32_020, 'Mismatch');
    if (id === undefined) return send(202);
    asked.push(method);
    const era = modern ? 'modern' : 'legacy';
    const inUsual = (): Outcome => usual(method, params, era);
    if (method === 'subscriptions/listen' && modern) {
      const outcome = fault.answer?.(method, params, () => ({ result: {} }), era) ?? { result: {} };
      if ('result' in outcome && Object.keys(outcome.result).length === 0) return listen(response, params);
      return send(200, { jsonrpc: '2.0', id, ...outcome });
    }
    const outcome = fault.answer === undefined ? inUsual() : fault.answer(method, params, inUsual, era);
    if (outcome === undefined) {
      response.destroy();
      return;
    }
    const begun: Record<string, string> = {};
    if (method === 'initialize') {
      const fresh = fault.session ?? crypto.randomUUID();
      sessions.add(fresh);
      begun['mcp-session-id'] = fresh;
    }
    const answer = 'result' in outcome && modern ? { result: { ...HINTS, ...outcome.result } } : outcome;
    const back = fault.id === undefined ? id : fault.id(id);
    const status = 'error' in outcome && outcome.error.code === -32_601 && modern ? 404 : 200;
    send(status, { jsonrpc: '2.0', id: back, ...answer }, begun);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const HINTS = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

function listen(response: ServerResponse, { notifications }: Params): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const acknowledged = {
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications },
  };
  response.write(`event: message\ndata: ${JSON.stringify(acknowledged)}\n\n`);
}

/** Reads the body of a request; undefined if it is too large, unless any size is allowed. */
async function bodyOf(request: IncomingMessage, any: boolean): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (any || bytes <= MAX_BODY) chunks.push(chunk as Buffer);
  }
  return any || bytes <= MAX_BODY ? Buffer.concat(chunks).toString('utf8') : undefined;
}
