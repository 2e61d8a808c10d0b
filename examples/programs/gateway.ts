/** A gateway: mounts another MCP server beside a folder. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { createVitrine } from 'vitrine';
import { filesProvider } from 'vitrine/providers/files';
import { upstream } from 'vitrine/providers/upstream';

const here = fileURLToPath(new URL('.', import.meta.url));
// Any server will do. This one is Vitrine's command on a folder.
const command = fileURLToPath(new URL('cli/main.js', import.meta.resolve('vitrine')));
const notes = upstream({ name: 'notes', target: { command: process.execPath, args: [command, 'serve', here] } });

const vitrine = createVitrine({ mounts: { notes, here: await filesProvider({ path: here }) } });
const names: string[] = [];
for await (const { uri } of vitrine.list()) names.push(uri);
assert.ok(names.includes('here+file:///gateway.ts'));
assert.ok(names.includes('notes+file:///gateway.ts'));
await vitrine.close();
