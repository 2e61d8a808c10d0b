/**
 * Many MCP servers in one process, each at its own path over Streamable HTTP: `node fleet.mjs '<plan as JSON>'`. Beside
 * them `POST /change` lets guests come and go everywhere, and `GET /asked` says how often each method was asked for.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createStock, INITIAL } from './stock.mjs';

/**
 * @typedef {import('./stock.mjs').Style & { era: 'legacy' | 'modern', count?: number, named?: number }} Plan
 * @typedef {Record<string, any>} Message
 * @typedef {import('node:http').ServerResponse} Response
 */

const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

/** @type {Record<string, Plan>} */
const plans = JSON.parse(process.argv[2] ?? '{}');
const servers = new Map(Object.entries(plans).map(([name, plan]) => [name, createOne(name, plan)]));

/** @param {string} name @param {Plan} plan */
function createOne(name, plan) {
  const stock = createStock(name, plan, plan.count ?? INITIAL);
  const names = Array.from({ length: plan.named ?? 0 }, (_, index) => `n${String(index).padStart(3, '0')}`);
  /** @type {Record<string, number>} */
  const asked = {};
  /** Streams of those who are told of changes, with the parameters of their messages. @type {Map<Response, object>} */
  const told = new Map();
  const sessions = new Set();
  const capabilities = {
    ...(plan.count !== 0 && { resources: { listChanged: plan.tells === true } }),
    ...(plan.named !== undefined && { tools: {}, prompts: {} }),
  };

  /** @param {string} field @param {readonly string[]} all @param {(key: string) => object} entryOf @param {Message} params */
  function list(field, all, entryOf, { cursor }) {
    const { page, ...rest } = stock.page(all, cursor);
    return { [field]: page.map(entryOf), ...rest };
  }

  /** @param {string} method @param {Message} params @returns {object | undefined} undefined: there is never an answer */
  function answer(method, params) {
    const isHanging = plan.hangs === 'lists' || (plan.hangs === 'second page' && params.cursor !== undefined);
    if (isHanging && method.endsWith('/list')) return undefined;
    switch (method) {
      case 'initialize':
        return { protocolVersion: LEGACY, capabilities, serverInfo: { name, version: '1.0.0' } };
      case 'server/discover':
        return { supportedVersions: [MODERN], capabilities };
      case 'ping':
        return {};
      case 'resources/list':
        return list('resources', stock.keys, stock.entryOf, params);
      case 'resources/templates/list':
        return list('resourceTemplates', names, templateOf, params);
      case 'tools/list':
        return list('tools', names, toolOf, params);
      case 'prompts/list':
        return list('prompts', names, (each) => ({ name: each, description: `Prompt ${each}` }), params);
      default:
        throw new Error(`There is no ${method}`);
    }
  }

  /** @param {Message} message @param {Response} response */
  function serve({ id, method, params = {} }, response) {
    asked[method] = (asked[method] ?? 0) + 1;
    const isModern = params._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
    if (isModern !== (plan.era === 'modern')) {
      const error = isModern
        ? { code: -32_601, message: 'Method not found' }
        : { code: -32_022, message: 'Unsupported protocol version', data: { supported: [MODERN], requested: '' } };
      return send(response, isModern ? 200 : 400, { id, error });
    }
    if (method === 'subscriptions/listen') return listen(id, params.notifications, response);
    try {
      const result = answer(method, params);
      if (result === undefined) return;
      if (method === 'initialize') {
        const session = randomUUID();
        sessions.add(session);
        response.setHeader('mcp-session-id', session);
      }
      const hints = { resultType: 'complete', ttlMs: plan.ttlMs ?? 0, cacheScope: 'public' };
      send(response, 200, { id, result: isModern ? { ...hints, ...result } : result });
    } catch (error) {
      send(response, 200, { id, error: { code: -32_601, message: /** @type {Error} */ (error).message } });
    }
  }

  /** @param {string | number} id @param {object} filter @param {Response} response */
  function listen(id, filter, response) {
    const of = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
    stream(response, of);
    event(response, {
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: filter, ...of },
    });
  }

  /** @param {Response} response @param {object} params of each message */
  function stream(response, params) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.flushHeaders();
    told.set(response, params);
    response.on('close', () => told.delete(response));
  }

  return {
    asked,
    change() {
      stock.change();
      if (!plan.tells) return;
      for (const [response, params] of told) {
        event(response, { method: 'notifications/resources/list_changed', params });
      }
    },
    /** @param {import('node:http').IncomingMessage} request @param {Response} response */
    async handle(request, response) {
      const session = request.headers['mcp-session-id'];
      if (request.method === 'DELETE') return void response.writeHead(sessions.delete(session) ? 200 : 404).end();
      if (request.method === 'GET') {
        if (!plan.tells || !sessions.has(session)) return void response.writeHead(405).end();
        return stream(response, {});
      }
      /** @type {Message} */
      const message = JSON.parse(await textOf(request));
      if (message.id === undefined) return void response.writeHead(202).end();
      serve(message, response);
    },
  };
}

/** @param {string} each */
const templateOf = (each) => ({ uriTemplate: `urn:part:${each}/{shelf}`, name: each, mimeType: 'text/plain' });

/** @param {string} each */
const toolOf = (each) => ({
  name: each,
  description: `Tool ${each}`,
  inputSchema: { type: 'object', properties: { shelf: { type: 'string' } } },
});

/** @param {Response} response @param {number} status @param {Message} message */
const send = (response, status, message) =>
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', ...message }));

/** @param {Response} response @param {Message} message */
const event = (response, message) =>
  response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);

/** @param {import('node:http').IncomingMessage} request */
async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const server = createServer(async (request, response) => {
  const path = (request.url ?? '').slice(1);
  if (path === 'change') {
    for (const each of servers.values()) each.change();
    return void response.writeHead(204).end();
  }
  if (path === 'asked') {
    const asked = Object.fromEntries([...servers].map(([name, each]) => [name, each.asked]));
    return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(asked));
  }
  const found = servers.get(path);
  if (found === undefined) return void response.writeHead(404).end();
  await found.handle(request, response);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`Endpoint: http://127.0.0.1:${port}/\n`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
