/** Makes the index of a configuration. The code of indexes is loaded only if there is one. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Log } from '../core/context.ts';
import type { RankedIndex } from '../core/ranked.ts';
import type { Configured } from './open.ts';

/**
 * Returns undefined if no mount is to be in an index, and for sources on a command line, which have no configuration file.
 * @param worker the number of this worker, if there are several: each has its own index
 * @throws ResourceError `invalid` if the package that an index needs is not installed
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
  const ownFolder = worker === undefined ? folder : join(folder, `worker-${worker}`);
  return createIndex({ ...block, folder: ownFolder, everything, log });
}

/** Returns the folder for the index of a configuration: a folder of its own, the same at each start. */
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
