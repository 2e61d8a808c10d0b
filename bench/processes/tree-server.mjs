/**
 * A server of the SDK with a tree in memory that it lists by URI (SEP-2093), over HTTP for 2026-07-28. Argument: how many
 * resources, all of 1 KiB, in folders of a hundred, a page each. Everything may be kept for an hour.
 */
import { serve } from '@hono/node-server';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { prose } from '../lib/folders.mjs';

const COUNT = Number(process.argv[2]);
const FOLDER = 100;
const TEXT = prose(1_024);
const KEPT = { ttlMs: 3_600_000, cacheScope: /** @type {const} */ ('public') };
const loose = z.looseObject({});

/** @param {string} uri @param {boolean} folder */
const entry = (uri, folder) => ({
  uri,
  name: uri.slice(uri.lastIndexOf('/') + 1),
  mimeType: folder ? 'inode/directory' : 'text/markdown',
  capabilities: { list: folder, subscribe: false },
});

/** By URI: the pages of its children. */
const lists = new Map();
let left = COUNT;
const folders = [];
for (let index = 0; left > 0; index++) {
  const uri = `bench:///folder-${index}`;
  const size = Math.min(FOLDER - 1, Math.max(0, left - 1));
  folders.push(entry(uri, true));
  lists.set(uri, [Array.from({ length: size }, (_, at) => entry(`${uri}/clock-${at}.md`, false))]);
  left -= size + 1;
}
lists.set(
  'bench:///',
  Array.from({ length: Math.ceil(folders.length / FOLDER) }, (_, at) => folders.slice(at * FOLDER, (at + 1) * FOLDER)),
);

const handler = createMcpHandler(
  () => {
    const server = new Server(
      { name: 'tree', version: '1.0.0' },
      { capabilities: { resources: {}, extensions: { 'vitrine/resource-metadata': {} } } },
    );
    server.setRequestHandler('resources/list', { params: loose, result: loose }, async (params) => {
      const { uri = 'bench:///', cursor = '0' } = /** @type {{uri?: string, cursor?: string}} */ (params);
      const pages = lists.get(uri) ?? [[]];
      const at = Number(cursor);
      const nextCursor = at + 1 < pages.length ? { nextCursor: `${at + 1}` } : {};
      return /** @type {never} */ ({ resources: pages[at] ?? [], ...nextCursor, ...KEPT });
    });
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => ({
      contents: [{ uri, mimeType: 'text/markdown', text: TEXT }],
      ...KEPT,
    }));
    return server;
  },
  { legacy: 'reject' },
);
serve({ fetch: (request) => handler.fetch(request), hostname: '127.0.0.1', port: 0 }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/mcp`),
);
