/** SEP-2093 on a server of the official SDK: a tree of two functions, and a client that walks it. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { type HierarchyResource, listChildren, serveResourceHierarchy } from 'vitrine/sep-2093';

const folder = (uri: string): HierarchyResource => ({ uri, mimeType: 'inode/directory', capabilities: { list: true } });
const poem = (uri: string): HierarchyResource => ({ uri, mimeType: 'text/plain' });
const tree = new Map<string, readonly HierarchyResource[]>([
  ['poem:///', [folder('poem:///rain'), poem('poem:///snow')]],
  ['poem:///rain', [poem('poem:///rain/april'), poem('poem:///rain/november')]],
]);
const all = new Map([folder('poem:///'), ...[...tree.values()].flat()].map((each) => [each.uri, each]));

function createServer(): Server {
  const server = new Server({ name: 'poems', version: '1.0.0' });
  serveResourceHierarchy(server, {
    list: (uri) => ({ resources: uri === undefined ? [folder('poem:///')] : (tree.get(uri) ?? []) }),
    metadata: (uri) => all.get(uri),
  });
  return server;
}

const handler = createMcpHandler(createServer);
const inProcess: typeof fetch = async (input, init) => handler.fetch(new Request(input, init));
const client = new Client({ name: 'walk', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch: inProcess }));

async function walk(uri?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const child of listChildren(client, uri, { maxResources: 100 }))
    found.push(child.uri, ...(child.capabilities?.list === true ? await walk(child.uri) : []));
  return found;
}
assert.deepEqual((await walk()).sort(), [...all.keys()].sort());
await client.close();
await handler.close();
