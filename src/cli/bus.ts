/** Opens the bus of a configuration. The code of the bus is loaded only if one is configured. */
import { ConfigError } from '../config/error.ts';
import { reasonOf } from '../configured/keys.ts';
import type { Configured } from '../configured/open.ts';
import type { Bus } from '../core/bus.ts';
import type { Log } from '../core/context.ts';
import { MAX_PEM_BYTES, readUpTo } from '../core/read-up-to.ts';

/**
 * Returns undefined if no bus is configured.
 * @throws ResourceError `invalid` if the package for Redis is not installed
 * @throws ConfigError if the file of `bus.ca` cannot be read
 */
export async function busOf({ config, keys }: Pick<Configured, 'config' | 'keys'>, log: Log): Promise<Bus | undefined> {
  if (config.bus === undefined || keys === undefined) return undefined;
  const { ca, ...address } = typeof config.bus === 'object' ? config.bus : { url: config.bus, ca: undefined };
  const { redisBus } = await import('../serving/bus/redis/index.ts');
  return redisBus({ ...address, keys, log, ...(ca !== undefined && { ca: await authoritiesOf(ca) }) });
}

async function authoritiesOf(file: string): Promise<string> {
  try {
    const bytes = await readUpTo(file, MAX_PEM_BYTES);
    if (bytes === undefined) throw new Error(`it has more than ${MAX_PEM_BYTES} bytes`);
    return bytes.toString('utf8');
  } catch (cause) {
    throw new ConfigError(`bus.ca: ${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}
