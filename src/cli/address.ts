/** `--http [host:]port`. */
import { DEFAULT_HOST, DEFAULT_PORT } from '../serving/defaults.ts';
import { UsageError } from './errors.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

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
