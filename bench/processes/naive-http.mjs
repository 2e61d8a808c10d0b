/**
 * The naive read: an SDK server over HTTP whose one tool reads a file whole, and answers with all of it as text.
 * Argument: the folder whose files are read by their names.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const folder = process.argv[2];

function naiveServer() {
  const server = new Server({ name: 'naive', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const text = await readFile(join(folder, params.arguments.name), 'utf8');
    return { content: [{ type: 'text', text }] };
  });
  return server;
}

const handler = createMcpHandler(() => naiveServer());
serve({ fetch: (request) => handler.fetch(request), hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/mcp`),
);
