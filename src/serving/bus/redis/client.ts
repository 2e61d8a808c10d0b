/** One connection to one server of Redis, by the package's client. */
import { ResourceError } from '../../../core/errors.ts';
import { missingPackage } from '../../../core/missing-package.ts';
import { abortable } from '../../../core/waiting/abortable.ts';

const PACKAGE = '@redis/client';

/** How long a command, or to connect, may take, in milliseconds. */
export const COMMAND_MS = 2_000;

/** Between two signs of life, and until a connection without one counts as broken, in milliseconds. */
const ALIVE_MS = { ping: 3_000, broken: 10_000 } as const;

/** Commands that wait for their answer. */
const MAX_COMMANDS = 20_000;

/** A server of Redis, and who asks it. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly database?: number | undefined;
  readonly tls: boolean;
}

/** Commands of the package's client: the memory of a bus and its messages need these. */
export interface Commands {
  publish(channel: string, message: string): Promise<unknown>;
  sPublish(channel: string, message: string): Promise<unknown>;
  hKeys(key: string): Promise<string[]>;
  hDel(key: string, fields: string[]): Promise<unknown>;
  hGetAll(key: string): Promise<Record<string, string>>;
  eval(script: string, options: { readonly keys: string[]; readonly arguments: string[] }): Promise<unknown>;
  multi(): Multi;
}

export interface Multi {
  del(key: string): Multi;
  hSet(key: string, field: string, value: string): Multi;
  pExpire(key: string, ms: number): Multi;
  hLen(key: string): Multi;
  exec(): Promise<readonly unknown[]>;
}

/** The part of the package's client that is used. */
export interface Client extends Commands {
  readonly isOpen: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'connect', listener: () => void): unknown;
  /** A cluster has given the channel to another server. */
  on(event: 'sharded-channel-moved', listener: () => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  sSubscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  destroy(): void;
}

/** Makes a client that is not connected yet. It connects once: whoever makes it makes another one when it has ended. */
export type OpenClient = (server: Server) => Client;

/**
 * @param ca authorities for servers with TLS, as PEM. Default: those of Node.js
 * @throws ResourceError `invalid` where the package is not installed
 */
export async function loadClient(ca: string | undefined): Promise<OpenClient> {
  const { createClient } = await import('@redis/client').catch((cause: unknown) => {
    throw missingPackage('A bus over Redis needs a package that is not here', [PACKAGE], { cause });
  });
  return ({ host, port, user, password, database, tls }) =>
    createClient({
      RESP: 2,
      name: 'vitrine',
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      ...(database !== undefined && { database }),
      maintNotifications: 'disabled',
      disableClientInfo: true,
      // A command that waits for a broken connection would be done late, when somebody else has done it.
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_COMMANDS,
      commandOptions: { timeout: COMMAND_MS },
      pingInterval: ALIVE_MS.ping,
      socket: {
        host,
        port,
        ...(tls && { tls: true as const, ...(ca !== undefined && { ca }) }),
        connectTimeout: COMMAND_MS,
        socketTimeout: ALIVE_MS.broken,
        reconnectStrategy: false,
      },
    }) as unknown as Client;
}

/** The server of an address as in `redis://user:password@host:6379/0`, which `busProblem` finds nothing wrong with. */
export function serverAt(url: string, port: number): Server {
  const { protocol, hostname, port: given, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: given === '' ? port : Number(given),
    user: username === '' ? undefined : decoded(username),
    password: password === '' ? undefined : decoded(password),
    database: pathname.length > 1 ? Number(pathname.slice(1)) : undefined,
    tls: protocol === 'rediss:',
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // It has a percent sign that begins no escape.
    return text;
  }
}

/** Says of a server which one it is, without who asks it. */
export const nameOf = ({ host, port }: Pick<Server, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Connects, and rejects with the signal's reason if it is aborted first. Whoever made the client destroys it. */
export async function connect(client: Client, signal: AbortSignal): Promise<void> {
  // A client that is destroyed while it connects goes on to connect.
  client.on('connect', () => {
    if (signal.aborted) client.destroy();
  });
  await abortable(client.connect(), signal);
}

const REFUSED = /^(WRONGPASS|NOAUTH|ERR invalid password|ERR Client sent AUTH|ERR AUTH)/;

/** Says of a server that refuses who asks it that it does so; another error stays as it is. */
export const asRefusal = (error: unknown, what: string, server: Server): unknown =>
  error instanceof Error && REFUSED.test(error.message)
    ? unavailable(`${what} at ${nameOf(server)} refuses the user or the password that the bus has for it`, error)
    : error;

export const unavailable = (message: string, cause?: unknown): ResourceError =>
  new ResourceError('unavailable', message, { cause });
