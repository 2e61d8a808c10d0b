/**
 * The server behind the gateways: one resource of 1 KiB and one tool, on the unchanged SDK.
 * Arguments: `stdio`, in the era that the client wants, or `http`, which has 2026-07-28 at `/mcp`, and sessions of
 * 2025-11-25 at `/sessions`; then how long its answers may be kept, in milliseconds.
 */
import { serve } from '@hono/node-server';
import { createMcpHandler, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { prose } from '../lib/folders.mjs';

const RESOURCE = { uri: 'bench:///clock.md', name: 'clock.md', mimeType: 'text/markdown' };
const TOOL = {
  name: 'echo',
  description: 'Gives back what it was given.',
  inputSchema: { type: /** @type {const} */ ('object'), properties: { message: { type: 'string' } } },
};
const TEXT = prose(1_024);
/** Default: nothing may be kept, so that each answer is the upstream's own. */
const KEPT = { ttlMs: Number(process.argv[3] ?? 0), cacheScope: /** @type {const} */ ('private') };

function server() {
  const made = new Server({ name: 'upstream', version: '1.0.0' }, { capabilities: { resources: {}, tools: {} } });
  made.setRequestHandler('resources/list', async () => ({ resources: [RESOURCE], ...KEPT }));
  made.setRequestHandler('resources/read', async ({ params }) => ({
    contents: [{ ...RESOURCE, uri: params.uri, text: TEXT }],
    ...KEPT,
  }));
  made.setRequestHandler('tools/list', async () => ({ tools: [TOOL], ...KEPT }));
  made.setRequestHandler('tools/call', async ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.message) }],
  }));
  return made;
}

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
  await server().connect(transport);
  return transport.handleRequest(request);
}

if (process.argv[2] === 'stdio') {
  serveStdio(server);
} else {
  const modern = createMcpHandler(server, { legacy: 'reject' });
  /** @param {Request} request */
  const answer = async (request) => (request.url.endsWith('/sessions') ? inSession(request) : modern.fetch(request));
  serve({ fetch: answer, hostname: '127.0.0.1', port: 0 }, ({ port }) => console.log(`http://127.0.0.1:${port}/mcp`));
}
