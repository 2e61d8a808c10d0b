/** Servers of the Go SDK refuse unknown methods over HTTP in 2025 with a status and a text. The session goes on after that. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { connectResourceClient } from '../../../src/client/node/index.ts';
import { temporaryFolder, writeConfig } from '../../e2e/folders.ts';
import { connect, ERAS } from '../../e2e/harness.ts';
import { startStranger } from './link.ts';

interface GoServer extends AsyncDisposable {
  readonly url: string;
  /** How often each method was sent. */
  count(method: string): number;
}

/** A server behind a listener that answers one method as the Go SDK does. */
async function startGo(): Promise<GoServer> {
  const behind = await startStranger('older', { transport: 'http', era: 'legacy' });
  const counts = new Map<string, number>();
  const listener = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '' } = body === '' ? {} : (JSON.parse(body) as { method?: string });
    counts.set(method, (counts.get(method) ?? 0) + 1);
    if (method === 'resources/metadata') {
      response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
      response.end('JSON RPC not handled: "resources/metadata" unsupported\n');
      return;
    }
    const { 'content-length': _length, host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(String(behind.mount.url), {
      method: request.method ?? 'POST',
      headers: headers as Record<string, string>,
      ...(body !== '' && { body }),
    }).catch(() => undefined);
    response.writeHead(answer?.status ?? 502, Object.fromEntries(answer?.headers ?? []));
    if (answer?.body == null) response.end();
    else
      Readable.fromWeb(answer.body as never)
        .on('error', () => response.destroy())
        .pipe(response);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`,
    count: (method) => counts.get(method) ?? 0,
    async [Symbol.asyncDispose]() {
      listener.close();
      listener.closeAllConnections();
      await behind[Symbol.asyncDispose]();
    },
  };
}

it('the client library takes metadata from the list of a Go server, over the same session [2093-11]', async () => {
  await using server = await startGo();
  await using resources = await connectResourceClient(server.url);
  for (const _ of [1, 2]) {
    const { resource, source } = await resources.metadata('old:/one');
    expect({ resource, source }).toMatchObject({ resource: { title: 'Listed with a title' }, source: 'list' });
  }
  expect([server.count('initialize'), server.count('resources/metadata')]).toEqual([1, 1]);
});

describe.each(ERAS)('the gateway, for a client of the %s era,', (era) => {
  it('takes metadata from the list of a Go server, over the same session [2093-11]', async () => {
    await using server = await startGo();
    await using folder = await temporaryFolder();
    const config = await writeConfig(folder, { tools: 'off', icons: 'off', mounts: { go: { url: server.url } } });
    await using on = await connect('http', era, ['--config', config]);
    for (const _ of [1, 2]) {
      const { resource } = await on.request('resources/metadata', { uri: 'go+old:/one' });
      expect(resource).toMatchObject({ uri: 'go+old:/one', title: 'Listed with a title' });
    }
    expect([server.count('initialize'), server.count('resources/metadata')]).toEqual([1, 1]);
  });
});
