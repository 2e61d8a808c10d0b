/** What `serve` and `check` are to serve: paths as typed, or a configuration. */
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { closeMounts, mountsOf, mountsOfPaths } from '../config/mounts.ts';
import { promptFoldersOf } from '../config/prompts.ts';
import type { Config } from '../config/schema.ts';
import type { Mount } from '../core/mounts.ts';
import type { PromptFolder } from '../core/prompt.ts';
import type { VitrineOptions } from '../vitrine.ts';
import { UsageError } from './errors.ts';

export interface Sources {
  readonly mounts: Mount[];
  readonly promptFolders: readonly PromptFolder[];
  readonly config: Partial<Config>;
  /** The arguments of `vitrine serve` that serve the same from any working directory. */
  readonly args: readonly string[];
}

export interface SourceFlags {
  readonly config?: string;
  readonly hidden?: boolean;
  readonly gitignore?: boolean;
}

const CONFIG_NAMES: ReadonlySet<string> = new Set(['vitrine.yaml', 'vitrine.yml', 'vitrine.json']);

/** @throws UsageError, ConfigError, ResourceError `invalid` */
export async function openSources(paths: readonly string[], flags: SourceFlags): Promise<Sources> {
  const { config: configPath, hidden, gitignore } = flags;
  const named = paths.filter((path) => CONFIG_NAMES.has(basename(path)));
  const file = configPath ?? named[0];
  if (file !== undefined) {
    if (hidden || gitignore) {
      throw new UsageError('--hidden and --gitignore are for paths; in a configuration say so in each mount');
    }
    if (paths.length > (configPath === undefined ? 1 : 0)) {
      throw new UsageError('Serve either paths or a configuration, not both; add the paths to its mounts');
    }
    const { loadConfig } = await import('../config/load.ts');
    const config = await loadConfig(file);
    const base = dirname(resolve(file));
    const mounts = await mountsOf(config.mounts, base);
    try {
      const promptFolders = await promptFoldersOf(config, mounts, base);
      return { mounts, promptFolders, config, args: ['--config', resolve(file)] };
    } catch (error) {
      await closeMounts(mounts);
      throw error;
    }
  }
  if (paths.length === 0) {
    const here = [...CONFIG_NAMES].find((name) => existsSync(name));
    throw new UsageError(
      `Say what to serve, as in: vitrine serve ./docs${here === undefined ? '' : `, or: vitrine serve ${here}`}`,
    );
  }
  const url = paths.find((path) => /^[a-z][a-z0-9+.-]+:\/\//i.test(path));
  if (url !== undefined) throw new UsageError(`${url} is a URL; this version serves files and folders`);
  const args = [
    ...paths.map((path) => resolve(path)),
    ...(hidden ? ['--hidden'] : []),
    ...(gitignore ? ['--gitignore'] : []),
  ];
  const mounts = await mountsOfPaths(paths, defined({ hidden, gitignore }));
  return { mounts, promptFolders: [], config: {}, args };
}

/** The engine's options out of a configuration. */
export function engineOptions({ mounts, promptFolders, config }: Sources, name: string | undefined): VitrineOptions {
  const { limits = {}, listing = 'walk', tools = 'on', icons = 'on', confirm } = config;
  const { allowHosts: _hosts, allowOrigins: _origins, allowRemote: _remote, ...identity } = config.server ?? {};
  const listed = typeof listing === 'string' ? { mode: listing } : listing;
  return {
    mounts,
    promptFolders,
    resourceTools: tools === 'off' ? false : tools === 'on' ? {} : tools,
    confirm,
    icons: icons === 'on',
    server: defined({ ...identity, ...(name !== undefined && { name }) }),
    listing: listed.mode ?? 'walk',
    limits: defined({
      pageSize: limits.pageSize,
      maxReadBytes: limits.maxReadBytes,
      maxChildren: limits.maxChildren,
      maxListed: 'maxResources' in listed ? listed.maxResources : undefined,
      maxDepth: 'maxDepth' in listed ? listed.maxDepth : undefined,
    }),
    timeoutMs: limits.timeoutSeconds === undefined ? undefined : limits.timeoutSeconds * 1_000,
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the keys that are undefined, so that defaults stay. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<T>;
}
