/** Says who can read what at an address, and what to do if serving there fails or is refused. */
import type { Config } from '../config/schema.ts';
import { ResourceError } from '../core/errors.ts';
import { isLoopback } from '../core/hosts.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../serving/defaults.ts';
import type { Address } from './address.ts';
import { UsageError } from './errors.ts';

/** Why requests without a token are accepted. */
export interface Openness {
  readonly why: string;
  /** The resources that can be read without a token. */
  readonly readable: string;
  /** Advice for requiring a token. */
  readonly remedy: string;
}

/** Returns why requests without a token are accepted; undefined if each request needs one. */
export function opennessOf(auth: Config['auth']): Openness | undefined {
  if (auth === undefined)
    return { why: 'There is no authorization', readable: 'what is served', remedy: 'configure auth' };
  if (auth.anonymous !== true) return undefined;
  return {
    why: 'Requests without a token are accepted',
    readable: 'what anonymous callers may read',
    remedy: 'leave out auth.anonymous',
  };
}

/**
 * Turns a failure to serve into a UsageError that says what to do.
 * @param open why serving at an address that other machines reach is refused; undefined if it is not refused
 */
export function withAdvice(error: unknown, { host, port }: Address, open: Openness | undefined): unknown {
  if (!(error instanceof ResourceError)) return error;
  if (error.code === 'unavailable') {
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE')
      return new UsageError(`${error.message}; choose another address or port, as in --http ${DEFAULT_PORT}`);
    const before = host === DEFAULT_HOST ? '' : `${host.includes(':') ? `[${host}]` : host}:`;
    const another = `${before}${port === 65_535 ? port - 1 : port + 1}`;
    return new UsageError(
      `${error.message}; stop the program that uses it, or choose another port, as in --http ${another}`,
    );
  }
  if (open === undefined || isLoopback(host)) return new UsageError(error.message);
  return new UsageError(
    `${error.message}; ${open.remedy}, leave out "${host}:", or say --allow-remote if everybody who reaches this machine may read ${open.readable}`,
  );
}
