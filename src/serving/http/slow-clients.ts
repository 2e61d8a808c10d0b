/**
 * Connections are bounded before and beside what they ask: how many there are, how many of one address, and how long
 * what was sent to one may wait until it is taken. Node.js bounds how long requests take to arrive; for readers that
 * never read it has no bound.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Log } from '../../core/context.ts';
import { isLoopback } from '../../core/hosts.ts';
import { networkOf } from '../network.ts';
import { type ConnectionLimits, MAX_PER_REMOTE_ADDRESS } from './connection-limits.ts';

/** How often connections are looked at, at most and at least, in milliseconds. */
const SWEEP_MS = { least: 10, most: 5_000 } as const;

/** How often the log is told of connections that were refused or cut, at most, in milliseconds. */
const TELL_MS = 60_000;

/** Bytes of an answer that is under way which have not been handed to its connection. */
const promised = new WeakMap<Socket, number>();

/** Says how much more of an answer is to come: a client that takes little at a time has no longer for the whole. */
export const promise = (socket: Socket, bytes: number): void => void promised.set(socket, bytes);

/** The bytes that a client has still to take. */
interface Owing {
  /** Bytes that had been handed to the connection when the wait began, and those that were to follow. */
  readonly upTo: number;
  readonly since: number;
}

/** Bounds the connections of a server from now on, until it closes. */
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
  // Over TLS the plain socket hands its bytes on at once, and they wait in the other one.
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

/** Ends a connection without waiting for what it has not taken. */
export function cut(socket: Socket): void {
  // A reset gives the system's memory back as well. Under TLS the handle is not one that can be reset.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

/** The same for a client that does not read what it asked for. */
export function cutUnread(socket: Socket, tell: Tell): void {
  tell('a client that does not read is cut off', { address: socket.remoteAddress });
  cut(socket);
}

function perAddressOf(address: string | undefined, { maxConnectionsPerAddress }: ConnectionLimits): number | undefined {
  if (maxConnectionsPerAddress !== undefined) return maxConnectionsPerAddress;
  return address === undefined || isLoopback(address) ? undefined : MAX_PER_REMOTE_ADDRESS;
}

export type Tell = (message: string, fields: Readonly<Record<string, unknown>>) => void;

/** The same, but each message once a minute: who fills connections is not to fill the log. */
export function seldom(tell: Tell): Tell {
  const last = new Map<string, number>();
  return (message, fields) => {
    const now = Date.now();
    if (now - (last.get(message) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return;
    last.set(message, now);
    tell(message, fields);
  };
}
