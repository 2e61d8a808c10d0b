/** The server that works beside the one that fails. Each scene has one, so it runs in this process. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serveHttp } from './upstream/http.mjs';

/** It never fails. */
const STEADY = {
  fault: () => ({}),
  world: () => ({ text: 'at first', changes: 0 }),
  note: () => {},
  strikes: () => undefined,
  look: () => {},
};

export interface Well extends AsyncDisposable {
  readonly target: { readonly url: string };
}

/** Starts one of the 2026 era at a free port. */
export async function startWell(): Promise<Well> {
  const server = serveHttp(STEADY, 'modern', 0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    target: { url: `http://127.0.0.1:${port}/mcp` },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
