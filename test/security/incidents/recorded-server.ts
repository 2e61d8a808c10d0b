/** A server over HTTP to be mounted, which records the requests that it gets. */
import { getRequestListener } from '@hono/node-server';
import type { Vitrine } from '../../../src/index.ts';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { createEndpoint } from '../../../src/serving/http/index.ts';
import { createVitrine } from '../../../src/vitrine.ts';
import { listening } from '../../gateway/authorization/servers.ts';

export interface RecordedServer extends AsyncDisposable {
  readonly url: string;
  /** Method and path of each request so far. */
  readonly requests: readonly string[];
}

export async function recordedServer(
  vitrine: Vitrine = createVitrine({
    mounts: [{ name: 'notes', provider: memoryProvider({ resources: { 'a.md': { text: 'a' } } }), prefix: 'none' }],
  }),
): Promise<RecordedServer> {
  const endpoint = createEndpoint(vitrine);
  const server = await listening(() => getRequestListener((request) => endpoint.fetch(request)));
  return {
    url: `${server.origin}/mcp`,
    get requests() {
      return server.requests.map(({ line }) => line);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await endpoint.close();
      await vitrine.close();
    },
  };
}
