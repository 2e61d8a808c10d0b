/** A mounted server that tells which replicas have subscribed to its resources. */
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { filesProvider } from '../../src/providers/files/index.ts';
import { serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';

export interface CountedUpstream extends AsyncDisposable {
  readonly url: string;
  /** The replicas with a subscription to the resource now, by the header `x-replica` of their requests. */
  subscribed(uri: string): readonly string[];
}

/** Serves the files of a folder, and lets its clients cache what they read until a change is reported. */
export async function countedUpstream(path: string): Promise<CountedUpstream> {
  const provider = await filesProvider({ path });
  const vitrine = createVitrine({
    mounts: [{ name: 'files', provider, prefix: 'none' }],
    cacheHint: { ttlMs: 3_600_000, cacheScope: 'public' },
  });
  const serving = await serveHttp(vitrine, { port: 0, explorer: false });
  const { port } = new URL(serving.url);
  /** The present subscriptions: in 2025 until they are ended by URI, in 2026 as long as their stream is open. */
  const subscriptions = new Set<{ readonly replica: string; readonly uri: string }>();
  const proxy = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const replica = String(incoming.headers['x-replica']);
    if (body.length > 0) {
      const { method, params } = JSON.parse(body.toString()) as { method?: string; params?: { uri?: string } };
      const uri = params?.uri ?? '';
      if (method === 'resources/subscribe') subscriptions.add({ replica, uri });
      if (method === 'resources/unsubscribe')
        for (const each of subscriptions) if (each.replica === replica && each.uri === uri) subscriptions.delete(each);
      if (method === 'subscriptions/listen') {
        for (const [, each = ''] of body.toString().matchAll(/"(file:[^"]*)"/g)) {
          const open = { replica, uri: each };
          subscriptions.add(open);
          outgoing.once('close', () => subscriptions.delete(open));
        }
      }
    }
    const { method, url, headers } = incoming;
    const passed = forward({
      host: '127.0.0.1',
      port,
      method,
      path: url,
      headers: { ...headers, host: `127.0.0.1:${port}` },
    });
    passed.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    passed.end(body);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`,
    subscribed: (uri) => [
      ...new Set([...subscriptions].filter((each) => each.uri === uri).map((each) => each.replica)),
    ],
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
      await serving.close();
      await vitrine.close();
    },
  };
}
