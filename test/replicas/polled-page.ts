/** A web page that replicas poll, and the replicas that polled it. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../e2e/waiting.ts';

/** The number of latest polls, for each expected replica, that show which replicas poll. */
const LOOKS = 8;

export interface PolledPage<Who> extends AsyncDisposable {
  readonly url: string;
  text: string;
  /** Waits until only that many replicas have polled for a while. Gives these replicas. */
  lookers(count: number): Promise<readonly Who[]>;
}

/** @param who identifies a replica, by the header `x-replica` of its request or by its port */
export async function polledPage<Who>(
  who: (from: { readonly replica: string | undefined; readonly port: number }) => Who | Promise<Who>,
): Promise<PolledPage<Who>> {
  let looks: Promise<Who>[] = [];
  const page = { text: 'first' };
  const server = createServer((request, response) => {
    const { headers, socket, method } = request;
    const replica = headers['x-replica'];
    // A poll is conditional. A read of a cached page may be, too.
    if (headers['if-none-match'] !== undefined)
      looks.push(Promise.resolve(who({ replica: replica?.toString(), port: socket.remotePort ?? 0 })));
    const etag = `"${page.text}"`;
    const same = headers['if-none-match'] === etag;
    response.writeHead(same ? 304 : 200, { 'content-type': 'text/plain', etag, 'cache-control': 'max-age=60' });
    response.end(same || method === 'HEAD' ? undefined : page.text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(page, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/page.txt`,
    async lookers(count: number) {
      looks = [];
      return until(async () => {
        const latest = (await Promise.all(looks)).slice(-LOOKS * count);
        const found = [...new Set(latest)];
        return latest.length === LOOKS * count && found.length === count && found;
      }, `${count} replicas that look`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
