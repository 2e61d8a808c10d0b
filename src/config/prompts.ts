/** Finds the folders of prompts that a configuration names: one at its top, and one in each mount. */
import { resolve } from 'node:path';
import { createContext } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { Mount } from '../core/mounts/mount.ts';
import { publishUri } from '../core/mounts.ts';
import type { PromptFolder } from '../core/prompt.ts';
import { nameProblem, treeUri } from '../core/uri.ts';
import { filesProvider } from '../providers/files/index.ts';
import { ConfigError } from './error.ts';
import type { Config } from './schema.ts';

/**
 * @param mounts the mounts of the same configuration, already open
 * @param base the directory that relative paths start from
 * @throws ConfigError, ResourceError `invalid` for a folder that is not there
 */
export async function promptFoldersOf(
  config: Pick<Config, 'mounts' | 'prompts'>,
  mounts: readonly Mount[],
  base: string,
): Promise<readonly PromptFolder[]> {
  const inMounts: PromptFolder[] = [];
  for (const mount of mounts) {
    const block = config.mounts[mount.name];
    if (typeof block !== 'object' || 'kind' in block || !('path' in block) || block.prompts === undefined) continue;
    if (block.roots !== undefined)
      throw new ConfigError(`mounts.${mount.name}: prompts cannot be bounded by roots; name their folder at the top`);
    inMounts.push({ uri: await uriInMount(mount, block.prompts), watch: block.watch });
  }
  if (config.prompts === undefined) return inMounts;
  const provider = await filesProvider({ path: resolve(base, config.prompts), name: 'prompts' });
  return [...inMounts, { uri: treeUri(schemeOf(provider.features), []), provider }];
}

async function uriInMount(mount: Mount, folder: string): Promise<string> {
  const names = folder.split('/').filter((name) => name !== '' && name !== '.');
  const problem = names.map(nameProblem).find((reason) => reason !== undefined);
  if (problem !== undefined || folder.startsWith('/'))
    throw new ConfigError(
      `mounts.${mount.name}.prompts: name a folder below the mount, as in "prompts"; not ${JSON.stringify(folder)}`,
    );
  const native = treeUri(schemeOf(mount.provider.features), names);
  const found = await mount.provider.metadata(native, createContext()).catch((error: unknown) => {
    if (error instanceof ResourceError) return undefined;
    throw error;
  });
  if (found?.capabilities?.list !== true)
    throw new ConfigError(`mounts.${mount.name}.prompts: the mount shows no folder ${JSON.stringify(folder)}`);
  return publishUri(mount, native);
}

const schemeOf = ({ schemes }: Mount['provider']['features']): string => schemes[0] ?? 'file';
