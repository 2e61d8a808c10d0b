/** Ways to reach taught servers: each SDK, with its transports and eras. */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import type { HierarchyFixture } from 'vitrine/sep-2093/testing';
import { type Connected, connectOnly, type Era, type TransportKind } from '../e2e/harness.ts';
import { connectProgram } from '../e2e/programs.ts';
import { endpointOf } from './servers.mjs';

export const MAIN = fileURLToPath(new URL('./main.mjs', import.meta.url));

export interface Way {
  readonly sdk: 'v1' | 'v2';
  readonly transport: TransportKind;
  readonly era: Era;
}

/** The v1 SDK has only the 2025 era. */
export const WAYS: readonly Way[] = (['stdio', 'http'] as const).flatMap((transport) => [
  { sdk: 'v1', transport, era: 'legacy' },
  { sdk: 'v2', transport, era: 'legacy' },
  { sdk: 'v2', transport, era: 'modern' },
]);

export interface Listening extends AsyncDisposable {
  readonly url: string;
}

/** Serves an endpoint at a free port. */
export async function listen({ sdk, era }: Way): Promise<Listening> {
  const server = createServer(getRequestListener(endpointOf(sdk, era)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Connects the official client. */
export async function reach(way: Way): Promise<Connected> {
  if (way.transport === 'stdio') return connectProgram(way.era, [MAIN, way.sdk]);
  const server = await listen(way);
  const stop = async (): Promise<number> => {
    await server[Symbol.asyncDispose]();
    return 0;
  };
  return connectOnly(way.era, {
    url: server.url,
    output: () => '',
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  });
}

/** The fixture of the laws for the shelf, under a prefix where a gateway is in between. */
export const fixtureOf = ({ client, request }: Connected, prefix = ''): HierarchyFixture => ({
  request,
  capabilities: (client.getServerCapabilities() ?? {}) as Readonly<Record<string, unknown>>,
  container: {
    uri: `${prefix}shelf:///drawer`,
    children: [1, 2, 3, 4].map((number) => `${prefix}shelf:///drawer/${number}`),
  },
  leaf: `${prefix}shelf:///report`,
  missing: `${prefix}shelf:///none`,
});
