/**
 * Limits connections, whatever they ask for: how many there are, how many come from one address, and how long sent bytes may wait
 * until the client takes them. Node.js itself limits how long requests take to arrive, but not how long a client may take to read.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Log } from '../../core/context.ts';
import { isLoopback } from '../../core/hosts.ts';
import { networkOf } from '../network.ts';
import { type ConnectionLimits, MAX_PER_REMOTE_ADDRESS } from './connection-limits.ts';

/** The shortest and the longest time between two checks of the connections, in milliseconds. */
const SWEEP_MS = { least: 10, most: 5_000 } as const;

/** The shortest time between two log lines of one kind about refused or cut connections, in milliseconds. */
const TELL_MS = 60_000;

/** For each connection, the bytes of its current answer that have not been handed to it yet. */
const promised = new WeakMap<Socket, number>();

/**
 * Sets how many bytes of an answer will follow. The time limit then holds for all of them, so that a client does not get more time by
 * taking a few bytes at a time.
 */
export const promise = (socket: Socket, bytes: number): void => void promised.set(socket, bytes);

/** The bytes that a client still has to take. */
interface Owing {
  /**
   * The wait is over when the client has taken this many bytes in all: those that had been handed to the connection when the wait
   * began, and those that were to follow according to `promise`.
   */
  readonly upTo: number;
  readonly since: number;
}

/** Limits the connections of a server from now on, until the server closes. */
export function boundConnections(server: Server, limits: ConnectionLimits, log: Log): void {
  const tell = seldom((message, fields) => log.warn(message, fields));
  const open = new Set<Socket>();
  const owing = new Map<Socket, Owing>();
  const perAddress = new Map<string, number>();

  server.maxConnections = limits.maxConnections;
  server.on('drop', () => tell('connections are refused', { maxConnections: limits.maxConnections }));
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    const most = perAddressOf(remoteAddress, limits);
    if (remoteAddress === undefined || most === undefined) return;
    const network = networkOf(remoteAddress);
    const count = (perAddress.get(network) ?? 0) + 1;
    if (count > most) {
      tell('connections of one address are refused', { address: network, maxConnectionsPerAddress: most });
      cut(socket);
      return;
    }
    perAddress.set(network, count);
    socket.once('close', () => {
      const left = (perAddress.get(network) ?? 1) - 1;
      if (left === 0) perAddress.delete(network);
      else perAddress.set(network, left);
    });
  });
  // With TLS, bytes wait in the TLS socket and not in the plain one, so both are checked.
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
        owing.delete(socket);
      });
    });
  }

  const every = Math.min(Math.max(limits.unreadMs / 4, SWEEP_MS.least), SWEEP_MS.most);
  const sweep = setInterval(() => {
    const now = Date.now();
    for (const socket of open) {
      if (socket.writableLength === 0) {
        owing.delete(socket);
        continue;
      }
      const debt = owing.get(socket);
      if (debt === undefined || socket.bytesWritten - socket.writableLength >= debt.upTo) {
        owing.set(socket, { upTo: socket.bytesWritten + (promised.get(socket) ?? 0), since: now });
      } else if (now - debt.since >= limits.unreadMs) {
        cutUnread(socket, tell);
      }
    }
  }, every);
  sweep.unref();
  server.once('close', () => clearInterval(sweep));
}

/** Ends a connection at once, even if its client has not taken all bytes. */
export function cut(socket: Socket): void {
  // A reset also frees the buffers of the operating system. A TLS socket cannot be reset.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Ends the connection of a client that does not read its answers, and logs it. */
export function cutUnread(socket: Socket, tell: Tell): void {
  tell('a client that does not read is cut off', { address: socket.remoteAddress });
  cut(socket);
}

function perAddressOf(address: string | undefined, { maxConnectionsPerAddress }: ConnectionLimits): number | undefined {
  if (maxConnectionsPerAddress !== undefined) return maxConnectionsPerAddress;
  return address === undefined || isLoopback(address) ? undefined : MAX_PER_REMOTE_ADDRESS;
}

export type Tell = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** Limits a log function to one line a minute for each message, so that an attack on connections does not fill the log. */
export function seldom(tell: Tell): Tell {
  const last = new Map<string, number>();
  return (message, fields) => {
    const now = Date.now();
    if (now - (last.get(message) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return;
    last.set(message, now);
    tell(message, fields);
  };
}
