/** MCP requests as a client of each era sends them over HTTP, and single exchanges with a server. */
import { request as httpRequest } from 'node:http';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';

const CLIENT = { name: 'bench', version: '1.0.0' };

/** The envelope of a 2026-07-28 request. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The parameter that is in the header `Mcp-Name` too. */
const NAMED_BY = { 'resources/read': 'uri', 'tools/call': 'name', 'prompts/get': 'name' };

const JSON_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

/** @typedef {{readonly headers: Record<string, string>, readonly message: object}} McpRequest */

/**
 * A request of revision 2026-07-28.
 * @param {string} method
 * @param {Record<string, unknown>} [params]
 * @returns {McpRequest}
 */
export function modern(method, params = {}) {
  return {
    headers: {
      ...JSON_HEADERS,
      'MCP-Protocol-Version': MODERN,
      'Mcp-Method': method,
      ...(method in NAMED_BY && { 'Mcp-Name': String(params[NAMED_BY[method]]) }),
    },
    message: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { ...ENVELOPE, .../** @type {object} */ (params._meta) } },
    },
  };
}

/** A client of 2025-11-25 sends this first. */
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT },
};

/** It sends this second. */
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

/**
 * A request of revision 2025-11-25 in a session.
 * @param {string} session its id
 * @param {string} method
 * @param {Record<string, unknown>} [params]
 * @returns {McpRequest}
 */
export function legacy(session, method, params = {}) {
  return {
    headers: { ...JSON_HEADERS, 'MCP-Protocol-Version': LEGACY, 'Mcp-Session-Id': session },
    message: { jsonrpc: '2.0', id: 1, method, params },
  };
}

/**
 * Begins a 2025-11-25 session, and returns its id.
 * @param {string} url
 */
export async function openSession(url) {
  const answer = await exchange(url, { headers: JSON_HEADERS, message: INITIALIZE });
  const session = answer.headers['mcp-session-id'];
  if (typeof session !== 'string') throw new Error(`${url} opened no session: ${answer.body}`);
  const initialized = legacy(session, 'notifications/initialized');
  await exchange(url, { ...initialized, message: INITIALIZED });
  return session;
}

/**
 * Sends one request and gives the whole answer.
 * @param {string} url
 * @param {McpRequest} mcp
 * @param {import('node:http').Agent} [agent]
 * @returns {Promise<{status: number | undefined, headers: import('node:http').IncomingHttpHeaders, body: string}>}
 */
export function exchange(url, mcp, agent) {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers: mcp.headers, agent }, (answer) => {
      /** @type {Buffer[]} */
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.once('error', reject);
      answer.once('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    sent.once('error', reject);
    sent.end(JSON.stringify(mcp.message));
  });
}

/**
 * The result of one request.
 * @param {string} url
 * @param {McpRequest} mcp
 * @param {import('node:http').Agent} [agent]
 * @returns {Promise<any>}
 */
export async function call(url, mcp, agent) {
  const { body } = await exchange(url, mcp, agent);
  const message = JSON.parse(body.startsWith('{') ? body : (/^data: (\{.*)$/m.exec(body)?.[1] ?? 'null'));
  if (message?.result === undefined) throw new Error(`${url} refused: ${body}`);
  return message.result;
}
