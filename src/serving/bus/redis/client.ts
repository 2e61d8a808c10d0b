/** Makes connections to Redis servers with the package `@redis/client`. */
import { ResourceError } from '../../../core/errors.ts';
import { missingPackage } from '../../../core/missing-package.ts';
import { abortable } from '../../../core/waiting/abortable.ts';

const PACKAGE = '@redis/client';

/** The time limit of a command, and of connecting, in milliseconds. */
export const COMMAND_MS = 2_000;

/** `ping`: the time between two pings. `broken`: a connection that is silent for so long counts as broken. In milliseconds. */
const ALIVE_MS = { ping: 3_000, broken: 10_000 } as const;

/** The most commands that wait for their answer. */
const MAX_COMMANDS = 20_000;

/** A Redis server, and the user and password with which it is used. */
export interface Server {
  readonly host: string;
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly database?: number | undefined;
  readonly tls: boolean;
}

/** The commands of the package's client that the bus uses for its messages and its memory. */
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

/** The part of the package's client that the bus uses. */
export interface Client extends Commands {
  readonly isOpen: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'connect', listener: () => void): unknown;
  /** Emitted when a cluster has moved the channel to another server. */
  on(event: 'sharded-channel-moved', listener: () => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  sSubscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  sendCommand(args: readonly string[]): Promise<unknown>;
  destroy(): void;
}

/** Makes a client that is not connected yet. A client does not reconnect: make another one when its connection has ended. */
export type OpenClient = (server: Server) => Client;

/**
 * Imports the package.
 * @param ca certificate authorities for servers with TLS, as PEM. Default: those of Node.js
 * @throws ResourceError `invalid` if the package is not installed
 */
export async function loadClient(ca: string | undefined): Promise<OpenClient> {
  const { createClient } = await import('@redis/client').catch((cause: unknown) => {
    throw missingPackage('A bus over Redis needs a package that is not here', [PACKAGE], { cause });
  });
  // The package makes a class with a method for each command of Redis whenever the options differ, which takes tens of milliseconds.
  // Copies of this client share one class. This client itself is never connected.
  const template = createClient({
    RESP: 2,
    name: 'vitrine',
    maintNotifications: 'disabled',
    disableClientInfo: true,
    // Without a connection a command fails at once. If it waited, it would run late, when another replica may have done the same.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    commandOptions: { timeout: COMMAND_MS },
    pingInterval: ALIVE_MS.ping,
  });
  return ({ host, port, user, password, database, tls }) =>
    template.duplicate({
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      ...(database !== undefined && { database }),
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

/**
 * The server of an address such as `redis://user:password@host:6379/0`.
 * @param url an address that `busProblem` has accepted
 * @param defaultPort the port if the address has none
 */
export function serverAt(url: string, defaultPort: number): Server {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? defaultPort : Number(port),
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
    // The text has a percent sign that begins no escape, so it is taken as it is.
    return text;
  }
}

/** The host and port of a server, without user and password, for messages. */
export const nameOf = ({ host, port }: Pick<Server, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Connects a client. Rejects with the signal's reason if the signal is aborted first. The caller destroys the client. */
export async function connect(client: Client, signal: AbortSignal): Promise<void> {
  // A client that is destroyed while it connects still connects, so it is destroyed again then.
  client.on('connect', () => {
    if (signal.aborted) client.destroy();
  });
  await abortable(client.connect(), signal);
}

const REFUSED = /^(WRONGPASS|NOAUTH|ERR invalid password|ERR Client sent AUTH|ERR AUTH)/;

/** Turns the error of a server that refuses the user or password into a clear one. Returns any other error as it is. */
export const asRefusal = (error: unknown, what: string, server: Server): unknown =>
  error instanceof Error && REFUSED.test(error.message)
    ? unavailable(`${what} at ${nameOf(server)} refuses the user or the password that the bus has for it`, error)
    : error;

export const unavailable = (message: string, cause?: unknown): ResourceError =>
  new ResourceError('unavailable', message, { cause });
