/** MCP beside the routes of a Hono application. */
import assert from 'node:assert/strict';
import { Hono } from 'hono';
import { createVitrine } from 'vitrine';
import { createResourceClient } from 'vitrine/client';
import { memoryProvider } from 'vitrine/providers/memory';

const prices = memoryProvider({ resources: { 'postcard.txt': { text: '0.80' } } });
const vitrine = createVitrine({ mounts: { prices } });

const app = new Hono();
app.get('/', (context) => context.text('The shop is open'));
app.all('/mcp', (context) => vitrine.fetch(context.req.raw));
export default app;

// The client calls the application directly, without a socket.
const shop: typeof fetch = async (input, init) => app.fetch(new Request(input, init));
await using client = createResourceClient({ url: 'http://localhost/mcp', fetch: shop });
const { primary } = await client.read('prices+memory:///postcard.txt');
assert.equal(primary?.text(), '0.80');
await vitrine.close();
