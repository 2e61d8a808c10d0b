/** The bus of a configuration. Its code is loaded where there is one. */
import { readFile } from 'node:fs/promises';
import { ConfigError } from '../config/error.ts';
import { reasonOf } from '../configured/keys.ts';
import type { Configured } from '../configured/open.ts';
import type { Bus } from '../core/bus.ts';
import type { Log } from '../core/context.ts';

/**
 * Undefined where none is configured.
 * @throws ResourceError `invalid` where the package that speaks to it is not installed, ConfigError for authorities that cannot be read
 */
export async function busOf({ config, keys }: Pick<Configured, 'config' | 'keys'>, log: Log): Promise<Bus | undefined> {
  if (config.bus === undefined || keys === undefined) return undefined;
  const { ca, ...address } = typeof config.bus === 'object' ? config.bus : { url: config.bus, ca: undefined };
  const { redisBus } = await import('../serving/bus/redis/index.ts');
  return redisBus({ ...address, keys, log, ...(ca !== undefined && { ca: await authoritiesOf(ca) }) });
}

async function authoritiesOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`bus.ca: ${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}
