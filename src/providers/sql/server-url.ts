/** The URL of a database server: where it is, who asks, and whether what is said there is encrypted. */

import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';

/** Connections to a server at a time, unless `connections` says otherwise. */
export const CONNECTIONS = 4;

/** As PostgreSQL's own clients call them. `require` encrypts without a check of who is at the other end. */
const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type TlsMode = (typeof TLS_MODES)[number];

/** How the connection is encrypted; undefined: not at all. */
export type Tls = Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized'> & {
  /** Whether the certificate has to be for this host. */
  readonly checksName: boolean;
};

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** A Unix socket, or the folder that it lies in, instead of host and port. */
  readonly socket: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly tls: Tls | undefined;
}

/** Parameters of the URL that mean something; others are left alone, and named in the log. */
const PARAMETERS = ['sslmode', 'sslrootcert', 'host', 'socket'] as const;

/**
 * Reads the URL. Without `sslmode`, a server elsewhere is held to `verify-full`, and one on this machine to `disable`.
 * @param defaultPort where the URL has none
 * @throws ResourceError `invalid`, without anything of the URL in the message but the name of a parameter
 */
export async function parseServerUrl(source: string, defaultPort: number, log: Log): Promise<ServerAddress> {
  const url = URL.parse(source);
  if (url === null)
    throw new ResourceError('invalid', 'The URL of the database is malformed; is the password percent-encoded?');
  const parameters = url.searchParams;
  const ignored = [...parameters.keys()].filter((key) => !PARAMETERS.some((known) => known === key));
  if (ignored.length > 0) log.warn('parameters of the database URL have no effect', { parameters: ignored });
  const named = decoded(url.hostname).replace(/^\[(.*)\]$/, '$1') || parameters.get('host') || 'localhost';
  const socket = parameters.get('socket') ?? (named.startsWith('/') ? named : undefined);
  const port = url.port === '' ? defaultPort : Number(url.port);
  return {
    host: named,
    port,
    socket,
    user: decoded(url.username) || undefined,
    password: decoded(url.password) || undefined,
    database: decoded(url.pathname.slice(1)) || undefined,
    tls: await tlsOf(parameters, socket !== undefined || isLoopback(named)),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new ResourceError('invalid', 'The URL of the database has a "%" that encodes nothing; write "%25"', {
      cause,
    });
  }
}

async function tlsOf(parameters: URLSearchParams, local: boolean): Promise<Tls | undefined> {
  const said = parameters.get('sslmode') ?? (local ? 'disable' : 'verify-full');
  const mode = TLS_MODES.find((known) => known === said);
  if (mode === undefined) {
    throw new ResourceError('invalid', `"sslmode" of the database URL is one of ${TLS_MODES.join(', ')}`);
  }
  const file = parameters.get('sslrootcert');
  const ca = file === null || mode === 'disable' ? undefined : await certificates(file);
  return mode === 'disable' ? undefined : { ...checks(mode), ...(ca !== undefined && { ca }) };
}

function checks(mode: Exclude<TlsMode, 'disable'>): Tls {
  switch (mode) {
    case 'require':
      return { rejectUnauthorized: false, checksName: false };
    case 'verify-ca':
      return { rejectUnauthorized: true, checksName: false };
    case 'verify-full':
      return { rejectUnauthorized: true, checksName: true };
  }
}

async function certificates(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ResourceError('invalid', 'The file that "sslrootcert" of the database URL names cannot be read', {
      cause,
    });
  }
}

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH|ALTNAME/;

/** Why a server cannot be talked to at all, by the code of an error of the network or of TLS; undefined for others. */
export function networkFault(code: unknown): string | undefined {
  if (typeof code !== 'string') return undefined;
  if (UNTRUSTED.test(code)) {
    return (
      'The certificate of the database server is not trusted; name its authority with "sslrootcert" in the URL, or say ' +
      '"sslmode=require" to encrypt without a check'
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'The host of the database is not known';
  if (/^E[A-Z]+$/.test(code)) return 'The database does not answer';
  return undefined;
}
