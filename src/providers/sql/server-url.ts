/** Parses the URL of a database server: its address, the user, and whether the connection is encrypted. */

import type { ConnectionOptions } from 'node:tls';
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';
import { MAX_PEM_BYTES, readUpTo } from '../../core/read-up-to.ts';

/** The most connections to a server at a time, unless `connections` says otherwise. */
export const CONNECTIONS = 4;

/** The names are those of PostgreSQL's own clients. `require` encrypts without a check of the server's certificate. */
const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type TlsMode = (typeof TLS_MODES)[number];

/** The options of an encrypted connection. */
export type Tls = Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized'> & {
  /** Whether the certificate must name the host. */
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
  /** Undefined if the connection is not encrypted. */
  readonly tls: Tls | undefined;
}

/** The parameters of the URL that have an effect; the log names any other. */
const PARAMETERS = ['sslmode', 'sslrootcert', 'host', 'socket'] as const;

/**
 * Parses the URL. Without `sslmode`, a server on this machine gets `disable`, and any other gets `verify-full`.
 * @param defaultPort the port if the URL has none
 * @throws ResourceError `invalid`; the message quotes only the name of a parameter from the URL
 */
export async function parseServerUrl(source: string, defaultPort: number, log: Log): Promise<ServerAddress> {
  const url = URL.parse(source);
  if (url === null)
    throw new ResourceError('invalid', 'The URL of the database is malformed; is the password percent-encoded?');
  const parameters = url.searchParams;
  const ignored = [...parameters.keys()].filter((key) => !PARAMETERS.some((parameter) => parameter === key));
  if (ignored.length > 0) log.warn('parameters of the database URL have no effect', { parameters: ignored });
  const host = decoded(url.hostname).replace(/^\[(.*)\]$/, '$1') || parameters.get('host') || 'localhost';
  const socket = parameters.get('socket') ?? (host.startsWith('/') ? host : undefined);
  const port = url.port === '' ? defaultPort : Number(url.port);
  return {
    host,
    port,
    socket,
    user: decoded(url.username) || undefined,
    password: decoded(url.password) || undefined,
    database: decoded(url.pathname.slice(1)) || undefined,
    tls: await tlsOf(parameters, socket !== undefined || isLoopback(host)),
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
  const wanted = parameters.get('sslmode') ?? (local ? 'disable' : 'verify-full');
  const mode = TLS_MODES.find((name) => name === wanted);
  if (mode === undefined) {
    throw new ResourceError('invalid', `"sslmode" of the database URL must be one of ${TLS_MODES.join(', ')}`);
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
  const bytes = await readUpTo(file, MAX_PEM_BYTES).catch((cause: unknown) => {
    throw new ResourceError('invalid', 'The file that "sslrootcert" of the database URL names cannot be read', {
      cause,
    });
  });
  if (bytes !== undefined) return bytes.toString('utf8');
  throw new ResourceError(
    'invalid',
    `The file that "sslrootcert" of the database URL names has more than ${MAX_PEM_BYTES} bytes`,
  );
}

/** Codes of errors about a certificate. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH|ALTNAME/;

/** Says why a server cannot be reached, by the code of an error of the network or of TLS; undefined for other errors. */
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
