/** Records the requests to a server over HTTP, and forwards them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

export interface SentMessage {
  readonly method?: string;
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> };
}

export interface Recorder extends AsyncDisposable {
  /** The address to use instead of the server's. */
  readonly url: string;
  readonly messages: readonly SentMessage[];
  /** Names of the sent headers. */
  readonly headers: ReadonlySet<string>;
}

const NOT_PASSED: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

export async function startRecorder(target: string): Promise<Recorder> {
  const messages: SentMessage[] = [];
  const headers = new Set<string>();
  const server = createServer(async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    let body = '';
    for await (const chunk of request) body += chunk;
    if (body !== '') messages.push(JSON.parse(body) as SentMessage);
    const passed = Object.entries(request.headers).filter(([name]) => !NOT_PASSED.has(name));
    for (const [name] of passed) headers.add(name);
    try {
      const answer = await fetch(target, {
        method: request.method ?? 'POST',
        headers: Object.fromEntries(passed) as Record<string, string>,
        signal: gone.signal,
        ...(body !== '' && { body }),
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body === null) response.end();
      else
        Readable.fromWeb(answer.body as never)
          .on('error', () => response.destroy())
          .pipe(response);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    messages,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
