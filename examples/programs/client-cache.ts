/** A client with a cache: it requests a resource once, and again after the server reports a change. */
import assert from 'node:assert/strict';
import { createVitrine } from 'vitrine';
import { createResourceClient, memoryStore } from 'vitrine/client';
import { memoryProvider } from 'vitrine/providers/memory';

const notes = memoryProvider({ resources: { 'today.md': { text: 'Rain' } } });
const vitrine = createVitrine({ mounts: { notes }, cacheHint: { ttlMs: 60_000, cacheScope: 'private' } });
const inProcess: typeof fetch = async (input, init) => vitrine.fetch(new Request(input, init));

const store = memoryStore({ maxBytes: 1024 * 1024 });
const client = createResourceClient({ url: 'http://localhost/mcp', fetch: inProcess }, { cache: { store } });
const uri = 'notes+memory:///today.md';
assert.equal((await client.read(uri)).from, 'server');
assert.equal((await client.read(uri)).from, 'cache');

const watch = client.watch(uri);
await watch.ready;
notes.set('today.md', { text: 'Sun' });
for await (const _event of watch) break;
const { from, primary } = await client.read(uri);
assert.equal(from, 'server');
assert.equal(primary?.text(), 'Sun');
await client.close();
await vitrine.close();
