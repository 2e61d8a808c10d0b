/** Writes messages as each era sends them, with its headers; in the 2026 era with facts about the client in `_meta`. */
import type { Era } from '../../e2e/harness.ts';

export type Data = Readonly<Record<string, unknown>>;

export const META = {
  revision: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

const CLIENT = { name: 'raw', version: '1.0.0' };

/** The keys of `_meta` with which a request of the 2026 era describes its client. */
export const envelope = (capabilities: object = {}): Data => ({
  [META.revision]: '2026-07-28',
  [META.client]: CLIENT,
  [META.capabilities]: capabilities,
});

export const initialize = (capabilities: object = {}, protocolVersion = '2025-11-25'): Data => ({
  jsonrpc: '2.0',
  id: 'begin',
  method: 'initialize',
  params: { protocolVersion, capabilities, clientInfo: CLIENT },
});

export const INITIALIZED: Data = { jsonrpc: '2.0', method: 'notifications/initialized' };

export const request = (method: string, params?: unknown, more: object = {}): Data => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params !== undefined && { params }),
  ...more,
});

export const notification = (method: string, params?: unknown): Data => ({
  jsonrpc: '2.0',
  method,
  ...(params !== undefined && { params }),
});

/** Writes a message by hand, from the JSON of its `_meta`. */
export type Written = (meta: string) => string;

/**
 * Leaves text and bytes unchanged, and calls a function with the `_meta` of the era. In the 2026 era, a message with a method
 * and valid parameters gets the facts about the client.
 */
export function textIn(era: Era, message: unknown, capabilities?: object): Buffer {
  if (Buffer.isBuffer(message)) return message;
  if (typeof message === 'function')
    return Buffer.from((message as Written)(JSON.stringify(era === 'modern' ? envelope(capabilities) : {})));
  if (typeof message === 'string') return Buffer.from(message);
  return Buffer.from(JSON.stringify(era === 'modern' ? withEnvelope(message, capabilities) : message));
}

/**
 * Adds the facts about the client to a message with a method and valid parameters. Its own keys stay, and an own key that is
 * undefined leaves that fact out.
 */
function withEnvelope(message: unknown, capabilities: object | undefined): unknown {
  if (!isData(message) || typeof message.method !== 'string') return message;
  const { params = {} } = message;
  if (!isData(params)) return message;
  const { _meta = {} } = params;
  if (!isData(_meta)) return message;
  return { ...message, params: { ...params, _meta: { ...envelope(capabilities), ..._meta } } };
}

const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const NAMED_BY: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
};

/** @param session its id, if there is one */
export function headersIn(era: Era, body: Buffer, session?: string): Readonly<Record<string, string>> {
  if (era === 'legacy')
    return {
      ...JSON_HEADERS,
      ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
    };
  return { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28', ...namesIn(body) };
}

/** Gives the parts of a message that its headers repeat. */
function namesIn(body: Buffer): Readonly<Record<string, string>> {
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8'));
  } catch {
    return {};
  }
  if (!isData(message) || typeof message.method !== 'string') return {};
  const { method, params } = message;
  const name = isData(params) ? params[NAMED_BY[method] ?? ''] : undefined;
  return { 'mcp-method': headerText(method), ...(typeof name === 'string' && { 'mcp-name': headerText(name) }) };
}

const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

export const isData = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
