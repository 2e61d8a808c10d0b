/** Opens the listening socket of the endpoint, plain or with TLS, sets every limit of Node.js, and closes it in order. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { Handler } from './node.ts';
import { boundConnections } from './slow-clients.ts';
import { followCertificates, loadCertificates, type TlsOptions } from './tls.ts';

/** How long open connections may take to end on shutdown before they are cut, in milliseconds. */
const GRACE_MS = 2_000;

/** The shortest and the longest time between two checks of Node.js for requests that take too long to arrive, in milliseconds. */
const CHECK_MS = { least: 10, most: 5_000 } as const;

export interface ListenerOptions {
  readonly handler: Handler;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  readonly limits: ConnectionLimits;
  readonly log: Log;
}

export interface Listener {
  /** Such as `http://127.0.0.1:8931`. */
  readonly origin: string;
  readonly port: number;
  /** Stops listening. @param end ends the work that connections wait for. Connections that stay open after that are cut */
  close(end: () => Promise<void>): Promise<void>;
}

/** @throws ResourceError `unavailable` if it cannot listen, as at a port in use; `invalid` for invalid certificates */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, tls, log } = options;
  const server = tls === undefined ? plainServer(options) : await tlsServer(options, tls);
  boundConnections(server, options.limits, log);
  await listening(server, host, port);
  const open = openConnections(server);
  const { port: taken } = server.address() as AddressInfo;
  const urlHost = host.includes(':') ? `[${host}]` : host;
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://${urlHost}:${taken}`,
    port: taken,
    async close(end) {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      await end();
      server.closeIdleConnections();
      // Ends connections that clients opened in advance, without a request yet. Node.js does not count them as idle.
      for (const socket of open.values()) if (!options.handler.hasAsked(socket)) socket.destroy();
      const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await stopped;
      clearTimeout(force);
    },
  };
}

const plainServer = (options: ListenerOptions): Server => createServer(bounds(options), options.handler.handle);

async function tlsServer(options: ListenerOptions, tls: TlsOptions): Promise<Server> {
  const { limits, log } = options;
  const certificates = await loadCertificates(tls);
  const asks = tls.ca !== undefined;
  const server: TlsServer = createTlsServer(
    {
      ...bounds(options),
      ...certificates.context,
      handshakeTimeout: limits.headersMs,
      requestCert: asks,
      rejectUnauthorized: asks,
    },
    options.handler.handle,
  );
  server.on('tlsClientError', (error) => log.debug('a TLS handshake failed', { error }));
  followCertificates(server, tls, certificates, log);
  return server;
}

/** The limits of Node.js. Those with their default value are set, too, in case another version has another default. */
const bounds = ({ limits }: ListenerOptions) => ({
  headersTimeout: Math.min(limits.headersMs, limits.requestMs),
  requestTimeout: limits.requestMs,
  connectionsCheckingInterval: Math.min(Math.max(limits.headersMs / 4, CHECK_MS.least), CHECK_MS.most),
  keepAliveTimeout: limits.keepAliveMs,
  maxHeaderSize: limits.maxHeaderBytes,
  requireHostHeader: true,
  insecureHTTPParser: false,
  joinDuplicateHeaders: false,
});

function listening(server: Server, host: string, port: number): Promise<void> {
  // The handler counts headers and refuses too many. Without this line, Node.js would silently drop the headers over its limit.
  server.maxHeadersCount = 0;
  return new Promise((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (cause: NodeJS.ErrnoException) => {
      // Emits `close`, which ends the timers of this server.
      server.close();
      const taken = cause.code === 'EADDRINUSE';
      const message = taken ? `Port ${port} is already in use` : `Cannot listen on ${host}:${port}`;
      reject(new ResourceError('unavailable', message, { cause }));
    });
    server.listen(port, host);
  });
}

function openConnections(server: Server): ReadonlyMap<string, Socket> {
  const open = new Map<string, Socket>();
  // With TLS a connection has two sockets. The TLS socket replaces the plain one under the same key.
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => {
      const peer = peerOf(socket);
      open.set(peer, socket);
      socket.once('close', () => {
        if (open.get(peer) === socket) open.delete(peer);
      });
    });
  }
  return open;
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
