/**
 * SEP-2093 on a server of the official SDK: a tree to list, describe and read, of two functions and a third that reads.
 * With Node 22.18 or newer, for a host to start: node examples/sdk-server.ts
 */
import { fileURLToPath } from 'node:url';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type HierarchyResource, serveResourceHierarchy } from 'vitrine/sep-2093';

const texts = new Map([
  ['poem:///rain/april', 'Rain again'],
  ['poem:///rain/november', 'Rain still'],
  ['poem:///snow', 'No snow yet'],
]);

const folder = (uri: string): HierarchyResource => ({ uri, mimeType: 'inode/directory', capabilities: { list: true } });
const poems = [...texts.keys()].map((uri) => ({ uri, mimeType: 'text/plain' }));
const tree = new Map<string, readonly HierarchyResource[]>([
  ['poem:///', [folder('poem:///rain'), ...poems.filter(({ uri }) => uri === 'poem:///snow')]],
  ['poem:///rain', poems.filter(({ uri }) => uri.startsWith('poem:///rain/'))],
]);

export function createServer(): Server {
  const server = new Server({ name: 'poems', version: '1.0.0' });
  serveResourceHierarchy(server, {
    list: (uri) => ({ resources: uri === undefined ? [folder('poem:///')] : (tree.get(uri) ?? []) }),
    metadata: (uri) => (tree.has(uri) ? folder(uri) : poems.find((poem) => poem.uri === uri)),
    read(uri) {
      const text = texts.get(uri);
      return text === undefined ? [] : [{ uri, text }];
    },
  });
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serveStdio(createServer);
