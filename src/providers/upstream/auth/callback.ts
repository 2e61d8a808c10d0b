/** Receives the answer of the authorization server at the end of an authorization in a browser: at a page on this machine. */
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ResourceError } from '../../../core/errors.ts';

/** The answer of the authorization server, as the browser brought it. */
export interface CallbackAnswer {
  readonly code: string;
  /** The issuer identifier of the authorization server that sent the browser (RFC 9207). */
  readonly iss: string | undefined;
}

export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string;
  /** Rejects with ResourceError `denied` if the user or the server refuses. */
  readonly answer: Promise<CallbackAnswer>;
}

const PATH = '/callback';

/**
 * Listens at 127.0.0.1 until the returned callback is disposed of. An answer with another state is ignored.
 * @param port 0 for a free port
 * @throws ResourceError `unavailable` if the port cannot be used
 */
export async function listenForCallback(port: number, state: string): Promise<Callback> {
  let resolve: (answer: CallbackAnswer) => void = () => {};
  let reject: (error: ResourceError) => void = () => {};
  const answer = new Promise<CallbackAnswer>((...settle) => {
    [resolve, reject] = settle;
  });
  // The answer may be rejected before anything waits for it.
  answer.catch(() => {});
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || pathname !== PATH) return show(response, 404, 'There is nothing here.');
    if (!isEqual(searchParams.get('state') ?? '', state))
      return show(response, 400, 'This does not belong to the authorization that Vitrine is waiting for.');
    const code = searchParams.get('code');
    if (code === null || searchParams.has('error')) {
      const refused = searchParams.get('error') === 'access_denied' ? 'was refused' : 'did not succeed';
      reject(new ResourceError('denied', `The authorization ${refused} at the authorization server`));
      return show(response, 200, 'Vitrine was not authorized. You can close this page.');
    }
    resolve({ code, iss: searchParams.get('iss') ?? undefined });
    return show(
      response,
      200,
      'Vitrine has what it needs, and says in its terminal how it went. You can close this page.',
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: unknown) => {
    const advice = port === 0 ? 'set redirectPort' : 'set another redirectPort';
    throw new ResourceError('unavailable', `Vitrine cannot listen at 127.0.0.1:${port}; ${advice}`, { cause });
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    redirectUrl: `http://127.0.0.1:${taken}${PATH}`,
    answer,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      // A browser keeps its connection open. The page that shows the outcome has been sent by now.
      setImmediate(() => server.closeAllConnections());
      await closed;
    },
  };
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function show(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><title>Vitrine</title><p>${text}</p>\n`);
}
