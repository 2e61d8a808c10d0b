/** A web server for one test: its answer for each path, and the requests that it got. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface SiteRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: () => number;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Site extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Every request so far. */
  readonly asked: readonly SiteRequest[];
  /** Sets what a path answers. */
  on(path: string, answer: Answer): void;
  close(): Promise<void>;
}

export interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** Listens on loopback at a free port. A path without an answer gets 404. */
export async function startSite(answer?: Answer, tls?: Tls, host = '127.0.0.1'): Promise<Site> {
  const paths = new Map<string, Answer>();
  const asked: SiteRequest[] = [];
  const sockets = new Set<Socket>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '';
    asked.push({ method: request.method ?? '', path, headers: request.headers, status: () => response.statusCode });
    const found = paths.get(path) ?? paths.get(path.split('?', 1)[0] ?? '') ?? answer;
    if (found === undefined) response.writeHead(404).end('nothing here');
    else found(request, response);
  };
  const server: Server = tls === undefined ? createServer(handle) : (createTlsServer(tls, handle) as unknown as Server);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    asked,
    on: (path, what) => void paths.set(path, what),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Answers with a content, its validators, windows and 304, as a good server does. */
export function content(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  ranges = true,
): Answer {
  const bytes = Buffer.from(body);
  return (request, response) => {
    const { etag, 'last-modified': modified } = headers;
    const { 'if-none-match': match, 'if-modified-since': since, range } = request.headers;
    if (
      (etag !== undefined && match === etag) ||
      (match === undefined && modified !== undefined && since === modified)
    ) {
      response.writeHead(304, headers).end();
      return;
    }
    const window = ranges ? /^bytes=(\d+)-(\d*)$/.exec(range ?? '') : null;
    if (window !== null) {
      const first = Number(window[1]);
      const last = window[2] === '' ? bytes.length - 1 : Math.min(Number(window[2]), bytes.length - 1);
      if (first >= bytes.length) {
        response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
        return;
      }
      const part = bytes.subarray(first, last + 1);
      const place = {
        'content-range': `bytes ${first}-${last}/${bytes.length}`,
        'content-length': String(part.length),
      };
      response.writeHead(206, { ...headers, ...place }).end(part);
      return;
    }
    response.writeHead(200, { 'content-length': String(bytes.length), ...headers });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  };
}

/** The headers of a JSON answer. */
export const JSON_TYPE = { 'content-type': 'application/json' } as const;
