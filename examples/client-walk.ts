/**
 * Walks through the resources of any server with the SDK's client: each once, however they lead back to each other.
 * With Node 22.18 or newer: node examples/client-walk.ts http://127.0.0.1:8931/mcp
 */
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { listChildren, resourceMetadata } from 'vitrine/sep-2093';

const MAX_DEPTH = 8;

export async function walk(client: Client, print: (line: string) => void): Promise<void> {
  const seen = new Set<string>();

  async function below(uri: string | undefined, depth: number): Promise<void> {
    for await (const resource of listChildren(client, uri, { maxResources: 1_000 })) {
      if (seen.has(resource.uri)) continue;
      seen.add(resource.uri);
      print(`${'  '.repeat(depth)}${resource.title ?? resource.name}`);
      if (resource.capabilities?.list === true && depth < MAX_DEPTH) await below(resource.uri, depth + 1);
    }
  }
  await below(undefined, 0);

  const [first] = seen;
  if (first === undefined) return;
  const { resource, source } = await resourceMetadata(client, first);
  print(`${resource.uri} is ${resource.mimeType ?? 'of no known type'}, as its ${source} says`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const client = new Client({ name: 'walk', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2] ?? 'http://127.0.0.1:8931/mcp')));
  await walk(client, console.log);
  await client.close();
}
