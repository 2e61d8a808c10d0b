/** Servers whose event streams have lines that end with CR LF, as those of the Python SDK do. */
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { connect, ERAS } from '../e2e/harness.ts';
import { within } from '../e2e/waiting.ts';
import { startFixture } from './fixture/link.ts';

/** Forwards everything to a server, and changes the line ends of its event streams. */
async function withLineEnds(target: string): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(async (request, response) => {
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    const left = new AbortController();
    response.on('close', () => left.abort());
    const body = request.method === 'POST' ? await new Response(Readable.toWeb(request) as BodyInit).text() : undefined;
    try {
      const answer = await fetch(target, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(body !== undefined && { body }),
        signal: left.signal,
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.flushHeaders();
      if (answer.body !== null) {
        for await (const chunk of Readable.fromWeb(answer.body as ReadableStream)) {
          response.write(String(chunk).replaceAll('\n', '\r\n'));
        }
      }
      response.end();
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it.each(ERAS)(
  'a question in a stream with CR LF reaches a client of the %s era at once, not only with the next message of the server',
  async (era) => {
    await using folder = await temporaryFolder({});
    await using fixture = await startFixture('legacy');
    await using proxy = await withLineEnds(fixture.url);
    const mounts = { far: { url: proxy.url, prefix: 'none' } };
    const config = await writeConfig(folder, { tools: 'off', icons: 'off', mounts });
    await using client = await connect('http', era, ['--config', config], {
      capabilities: { roots: {} },
      prepare: (made) => made.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///here' }] })),
    });
    const called = client.request<CallToolResult & Record<string, unknown>>('tools/call', {
      name: 'ask-roots',
      arguments: { label: 'tea' },
    });
    const { content } = await within(called, 'the answer of a tool that asked');
    expect(JSON.stringify(content)).toContain('file:///here');
  },
);
