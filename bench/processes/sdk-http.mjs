/**
 * A bare SDK server over HTTP: 2026-07-28 at `/mcp`, sessions of 2025-11-25 at `/sessions`.
 * Argument: a JSON file with the results to answer with.
 */
import { readFileSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { sdkServer } from './sdk-server.mjs';

const { results } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const modern = createMcpHandler(() => sdkServer(results));
/** @type {Map<string, WebStandardStreamableHTTPServerTransport>} */
const sessions = new Map();

/** @param {Request} request */
async function inSession(request) {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
  if (known !== undefined) return known.handleRequest(request);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await sdkServer(results).connect(transport);
  return transport.handleRequest(request);
}

serve(
  {
    fetch: (request) => (request.url.endsWith('/sessions') ? inSession(request) : modern.fetch(request)),
    hostname: '127.0.0.1',
    port: 0,
  },
  ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`),
);
