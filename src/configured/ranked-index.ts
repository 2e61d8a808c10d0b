/** The index of a configuration. Its code is loaded where there is one. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Log } from '../core/context.ts';
import type { RankedIndex } from '../core/ranked.ts';
import type { Configured } from './open.ts';

/**
 * Undefined where no mount is to be in one.
 * @param worker which of several workers has it: each has its own
 * @throws ResourceError `invalid` where the package that it is made of is not installed
 */
export async function rankedIndexOf(
  { config, mounts, file }: Pick<Configured, 'config' | 'mounts' | 'file'>,
  log: Log,
  worker?: number,
): Promise<RankedIndex | undefined> {
  const { index = 'off' } = config;
  const everything = index !== 'off';
  if (file === undefined || !(everything || mounts.some(({ indexed }) => indexed === true))) return undefined;
  const block = typeof index === 'object' ? index : index === 'on' || index === 'off' ? {} : { url: index };
  const folder = block.folder === undefined ? folderFor(file) : resolve(dirname(resolve(file)), block.folder);
  const { createIndex } = await import('../search/index.ts');
  const own = worker === undefined ? folder : join(folder, `worker-${worker}`);
  return createIndex({ ...block, folder: own, everything, log });
}

/** Each configuration has its own, and finds it again. */
function folderFor(file: string): string {
  const name = createHash('sha256').update(resolve(file)).digest('hex').slice(0, 16);
  return join(cacheFolder(), 'vitrine', 'index', name);
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  if (XDG_CACHE_HOME !== undefined && XDG_CACHE_HOME !== '') return XDG_CACHE_HOME;
  if (process.platform === 'win32' && LOCALAPPDATA !== undefined) return LOCALAPPDATA;
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
}
