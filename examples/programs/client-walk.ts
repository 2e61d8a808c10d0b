/** Walks through all resources of a server, and reads the beginning of each text. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { connectResourceClient } from 'vitrine/client/node';

// Any server will do. This one is Vitrine's command on the folder of this program.
const here = fileURLToPath(new URL('.', import.meta.url));
const command = fileURLToPath(new URL('cli/main.js', import.meta.resolve('vitrine')));
await using resources = await connectResourceClient({ command: process.execPath, args: [command, 'serve', here] });

const first = new Map<string, string | undefined>();
const walk = resources.walk(undefined, { maxDepth: 4, maxResources: 100 });
for await (const { resource } of walk) {
  if (resource.mimeType === 'inode/directory') continue;
  const { primary } = await resources.read(resource.uri, { range: { length: 200 } });
  first.set(resource.name, primary?.text()?.split('\n')[0]);
}
assert.deepEqual(walk.report.stops, []);
assert.match(first.get('client-walk.ts') ?? '', /^\/\*\* Walks through all/);
