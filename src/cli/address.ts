/** Parses `--http [host:]port` and `--port`. */
import { DEFAULT_HOST, DEFAULT_PORT } from '../serving/defaults.ts';
import { UsageError } from './errors.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  /** The number of following ports to try when the port is in use. */
  readonly more?: number;
}

/** The number of ports to try after the first. */
const MORE_PORTS = 20;

const SHAPE = /^(?:(?<host>\[[0-9A-Fa-f:.]+\]|[^:/\s]+):)?(?<port>\d{1,5})$/;

/** @throws UsageError */
export function parseAddress(text: string | true): Address {
  if (text === true) return { host: DEFAULT_HOST, port: DEFAULT_PORT };
  const groups = SHAPE.exec(text)?.groups;
  const port = Number(groups?.port ?? Number.NaN);
  if (groups === undefined || port > 65_535) {
    throw new UsageError(`--http takes [host:]port, as in --http 8931, and not "${text}"; put paths before it`);
  }
  return { host: (groups.host ?? DEFAULT_HOST).replace(/^\[|\]$/g, ''), port };
}

/**
 * Returns the typed address or port; for a person who typed none, the default one with the ports to try after it. If it returns
 * undefined, `serve` uses standard input and output. @throws UsageError
 */
export function addressOf(
  { http, port }: { readonly http?: string | true; readonly port?: string },
  person: boolean,
): Address | undefined {
  if (http !== undefined && port !== undefined) throw new UsageError('Give either --http or --port, not both');
  if (port !== undefined && !/^\d{1,5}$/.test(port))
    throw new UsageError(`--port takes a port, as in --port 8931, and not "${port}"`);
  const typed = http ?? port;
  if (typed !== undefined) return parseAddress(typed);
  return person ? { ...parseAddress(true), more: MORE_PORTS } : undefined;
}
