/** A worker for runtimes with the interfaces of Node.js that call the `fetch` of a module: Bun, Deno and workerd. */
import assert from 'node:assert/strict';
import { createVitrine, defineProvider } from 'vitrine';

const words = new Map([['word:vitrine', 'a cabinet of glass']]);
const dictionary = defineProvider({
  scheme: 'word',
  list: () => [...words.keys()].map((uri) => ({ uri })),
  read: (uri) => words.get(uri),
});
const vitrine = createVitrine({ mounts: { dictionary }, endpoint: { allowedHosts: ['words.example'] } });

const worker = { fetch: (request: Request) => vitrine.fetch(request) };
export default worker;

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'example', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const params = { uri: 'dictionary+word:vitrine', _meta };
const request = new Request('https://words.example/mcp', {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'resources/read',
    'Mcp-Name': params.uri,
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params }),
});
const answer = await (await worker.fetch(request)).json();
assert.equal(answer.result.contents[0].text, 'a cabinet of glass');
await vitrine.close();
