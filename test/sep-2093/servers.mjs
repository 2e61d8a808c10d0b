/** Servers of both SDKs that were taught the shelf, and their HTTP endpoints. */

import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport as TransportV1 } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { createMcpHandler, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { serveResourceHierarchy } from 'vitrine/sep-2093';
import { shelf } from './shelf.mjs';

const IDENTITY = { name: 'shelf', version: '1.0.0' };

export function serverV2() {
  const server = new Server(IDENTITY);
  serveResourceHierarchy(server, shelf);
  return server;
}

export function serverV1() {
  const server = new ServerV1(IDENTITY);
  serveResourceHierarchy(server, shelf);
  return server;
}

/**
 * @param {'v1' | 'v2'} sdk
 * @param {'legacy' | 'modern'} era
 * @returns {(request: Request) => Promise<Response>}
 */
export function endpointOf(sdk, era) {
  if (era === 'modern') return createMcpHandler(serverV2).fetch;
  /** @type {Map<string, { handleRequest(request: Request): Promise<Response> }>} */
  const sessions = new Map();
  return async (request) => {
    const session = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (session !== undefined) return session.handleRequest(request);
    const options = {
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (/** @type {string} */ id) => void sessions.set(id, transport),
    };
    /** @type {TransportV1 | WebStandardStreamableHTTPServerTransport} */
    const transport = sdk === 'v1' ? new TransportV1(options) : new WebStandardStreamableHTTPServerTransport(options);
    if (transport instanceof TransportV1) await serverV1().connect(transport);
    else await serverV2().connect(transport);
    return transport.handleRequest(request);
  };
}
