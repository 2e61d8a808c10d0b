/** The bus of a configuration. Its code is loaded where there is one. */
import type { Configured } from '../configured/open.ts';
import type { Bus } from '../core/bus.ts';
import type { Log } from '../core/context.ts';

/**
 * Undefined where none is configured.
 * @throws ResourceError `invalid` where the package that speaks to it is not installed
 */
export async function busOf({ config, keys }: Pick<Configured, 'config' | 'keys'>, log: Log): Promise<Bus | undefined> {
  if (config.bus === undefined || keys === undefined) return undefined;
  const { redisBus } = await import('../serving/bus/redis.ts');
  return redisBus({ url: config.bus, keys, log });
}
