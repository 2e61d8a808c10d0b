/**
 * Shows any MCP server: its name and version, its tree, and the beginning of its first text.
 * With Node 22.18 or newer: node examples/look-around.ts 'node dist/cli/main.js serve examples/museum'
 * or with a URL: node examples/look-around.ts http://127.0.0.1:8931/mcp
 */
import { fileURLToPath } from 'node:url';
import { ResourceClientError } from 'vitrine/client';
import { connectResourceClient } from 'vitrine/client/node';

export async function lookAround(target: string, print: (line: string) => void): Promise<void> {
  const resources = await connectResourceClient(target);
  try {
    const { name, version, era } = await resources.connect();
    print(`${name ?? 'a server'} ${version ?? ''}, ${era} era`);

    const walk = resources.walk(undefined, { maxDepth: 8, maxResources: 200 });
    let text: string | undefined;
    for await (const { resource, depth } of walk) {
      print(`${'  '.repeat(depth)}${resource.name}${resource.size === undefined ? '' : ` (${resource.size} bytes)`}`);
      if (resource.mimeType?.startsWith('text/')) text ??= resource.uri;
    }
    for (const { reason, uri } of walk.report.stops) print(`stopped at ${uri ?? 'the list'}: ${reason}`);

    if (text === undefined) return;
    const { primary } = await resources.read(text, { range: { length: 80 }, accept: ['text/plain', 'text/*'] });
    print(`${text} begins with ${JSON.stringify(primary?.text())}`);
  } finally {
    await resources.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await lookAround(process.argv[2] ?? 'node dist/cli/main.js serve examples/museum', console.log);
  } catch (error) {
    if (!(error instanceof ResourceClientError)) throw error;
    console.error(`${error.code}: ${error.message}`);
    process.exitCode = 1;
  }
}
