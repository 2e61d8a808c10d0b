/** MCP beside the routes of an Express application. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { createVitrine } from 'vitrine';
import { createResourceClient } from 'vitrine/client';
import { memoryProvider } from 'vitrine/providers/memory';

const prices = memoryProvider({ resources: { 'postcard.txt': { text: '0.80' } } });
const vitrine = createVitrine({ mounts: { prices } });

const app = express();
app.get('/', (_request, response) => void response.send('The shop is open'));
// Put it before any parser of bodies: Vitrine reads bodies itself, within its limits.
app.all('/mcp', getRequestListener(vitrine.fetch));
const server = app.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));

const { port } = server.address() as AddressInfo;
const client = createResourceClient({ url: `http://127.0.0.1:${port}/mcp` });
const { primary } = await client.read('prices+memory:///postcard.txt');
assert.equal(primary?.text(), '0.80');
await client.close();
await vitrine.close();
await new Promise((resolve) => server.close(resolve));
