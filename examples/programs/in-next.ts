/** A route of Next.js: `app/mcp/route.ts`. */
import assert from 'node:assert/strict';
import { createVitrine } from 'vitrine';
import { createResourceClient } from 'vitrine/client';
import { memoryProvider } from 'vitrine/providers/memory';

const prices = memoryProvider({ resources: { 'postcard.txt': { text: '0.80' } } });
const vitrine = createVitrine({
  mounts: { prices },
  endpoint: { allowedHosts: ['shop.example'] },
});

export const GET = vitrine.fetch;
export const POST = vitrine.fetch;
export const DELETE = vitrine.fetch;

// Next.js calls the function of the method with a Request.
const routes = new Map(Object.entries({ GET, POST, DELETE }));
const next: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  return routes.get(request.method)?.(request) ?? new Response(null, { status: 405 });
};
await using client = createResourceClient({ url: 'https://shop.example/mcp', fetch: next });
const { primary } = await client.read('prices+memory:///postcard.txt');
assert.equal(primary?.text(), '0.80');
await vitrine.close();
