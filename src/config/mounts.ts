/** Makes mounts from configured or typed sources. */
import { createHash } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Mount } from '../core/mounts/mount.ts';
import { mountNameProblem, STATE_MOUNT } from '../core/mounts.ts';
import { rootsLayer } from '../layers/roots/index.ts';
import type { FilesOptions } from '../providers/files/index.ts';
import { ConfigError } from './error.ts';
import type { HostServer } from './host-servers.ts';
import { type Kind, kindOf, kindOfSource, openKind } from './kinds/index.ts';
import { slug } from './mount-names.ts';
import { nestedFiles } from './nested.ts';
import type { NestedConfig } from './nested-schema.ts';
import type { PluggedKinds } from './plug-ins/load.ts';
import { isUrl } from './references.ts';
import type { Config } from './schema.ts';
import {
  type ConfiguredMount,
  type MountSwitches,
  type OpenOptions,
  switchesOf,
  upstreamMount,
} from './upstream-mounts.ts';
import type { UpstreamConfig } from './upstream-schema.ts';

/** Returns the mounts of a configuration, followed by those of servers in a host's format. */
export function mountsOf(
  mounts: Config['mounts'],
  options: OpenOptions,
  servers: readonly HostServer[] = [],
): Promise<ConfiguredMount[]> {
  return openAll(
    [
      ...Object.entries(mounts).map(
        ([name, block]): Source => ({
          openedWith: [name, block, options.base, options.clientInfo, pluggedFrom(block, options.plugged)],
          open: () => mountOf(name, block, options),
        }),
      ),
      ...servers.map((server) => serverSource(server, {}, options)),
    ],
    options.open,
  );
}

/** Returns the package of a plug-in's mount: the same kind from another package is another mount. */
const pluggedFrom = (block: Config['mounts'][string], plugged: PluggedKinds | undefined): string | undefined =>
  typeof block === 'object' && 'kind' in block ? plugged?.get(block.kind)?.from : undefined;

interface Source {
  /** The data that the mount is opened with, as far as a reload can change it. */
  readonly openedWith: readonly unknown[];
  readonly open: () => Promise<ConfiguredMount>;
}

const serverSource = (
  { name, block, base }: HostServer,
  more: Pick<Mount, 'prefix'>,
  options: OpenOptions,
): Source => ({
  openedWith: [name, block, base, options.clientInfo, more],
  open: () => upstreamMount(name, { ...more, ...block }, { ...options, base }),
});

/** Opens sources that are not open yet, one after the other. When one fails, closes those that it has opened. */
async function openAll(sources: readonly Source[], open: readonly ConfiguredMount[] = []): Promise<ConfiguredMount[]> {
  const mounts: ConfiguredMount[] = [];
  try {
    for (const source of sources) {
      const openedFor = JSON.stringify(source.openedWith);
      const same = open.find((mount) => mount.openedFor === openedFor);
      mounts.push(same ?? { ...(await source.open()), openedFor, source: hashOf(openedFor) });
    }
    return mounts;
  } catch (error) {
    await closeOpened(mounts, open);
    throw error;
  }
}

/** Returns the name by which replicas identify the mount to each other. It reveals none of the mount's settings. */
const hashOf = (openedFor: string): string => createHash('sha256').update(openedFor).digest('base64url');

/** Closes the mounts that were not open before. */
export const closeOpened = (mounts: readonly Mount[], before: readonly Mount[] = []): Promise<void> =>
  closeMounts(mounts.filter((mount) => !before.includes(mount)));

async function mountOf(name: string, block: Config['mounts'][string], options: OpenOptions): Promise<ConfiguredMount> {
  if (typeof block === 'string') {
    const kind = await kindOfSource(block, options.base);
    if (kind !== undefined) return kindMount(kind, name, { [kind.key]: block }, options);
    return isUrl(block)
      ? upstreamMount(name, { url: block }, options)
      : filesMount(name, { path: block }, options.base);
  }
  if ('kind' in block) {
    const { pluggedKind } = await import('./plug-ins/open.ts');
    return kindMount(pluggedKind(block.kind, options.plugged), name, block, options);
  }
  if ('path' in block) return filesMount(name, block, options.base);
  const kind = kindOf(block);
  if (kind !== undefined) return kindMount(kind, name, block, options);
  return upstreamMount(name, block as UpstreamConfig, options);
}

async function kindMount(
  kind: Kind,
  name: string,
  { prefix, icons, forms, skills, index, ...block }: Pick<Mount, 'prefix' | 'icons'> & MountSwitches,
  options: OpenOptions,
): Promise<Mount> {
  return {
    name,
    prefix,
    icons,
    ...switchesOf({ forms, skills, index }),
    provider: await openKind(kind, name, block, options),
  };
}

type FilesBlock = Partial<Extract<Config['mounts'][string], { path: string }>> & { readonly path: string };

async function filesMount(name: string, block: FilesBlock, base: string): Promise<Mount> {
  const { prefix, prompts: _prompts, roots, path, icons, forms, skills, index, nested, ...files } = block;
  const common = { name, prefix, icons, ...switchesOf({ forms, skills, index }) };
  const source = resolve(base, path);
  if (roots === undefined) return { ...common, provider: await nestedFiles({ ...files, path: source, name }, nested) };
  // Roots are compared by name, so links must not lead to another place.
  const provider = await nestedFiles({ ...files, symlinks: false, path: source, name }, nested);
  return { ...common, provider: rootsLayer({ folder: await folderOf(source) })(provider) };
}

/** Returns the canonical path of a folder, or of a file's folder. */
async function folderOf(path: string): Promise<string> {
  const real = await realpath(path);
  return (await stat(real)).isDirectory() ? real : dirname(real);
}

/** The options of typed paths; a configuration has more of them. */
export type PathOptions = Pick<FilesOptions, 'hidden' | 'gitignore'> & { readonly nested?: NestedConfig };

/** Makes mounts of typed sources and of servers in a host's format. A single mount has no prefix; several have their names. */
export async function mountsOfSources(
  sources: readonly string[],
  servers: readonly HostServer[],
  options: OpenOptions,
  { nested, ...shown }: PathOptions = {},
): Promise<ConfiguredMount[]> {
  const prefix = sources.length + servers.length === 1 ? 'none' : 'name';
  const taken = new Set(servers.map((server) => server.name));
  const named: { readonly name: string; readonly source: string; readonly kind: Kind | undefined }[] = [];
  for (const source of sources) {
    const kind = await kindOfSource(source, process.cwd());
    const name = uniqueName(source, kind, taken);
    taken.add(name);
    named.push({ name, source, kind });
  }
  const typed = named.map(({ name, source, kind }): Source => {
    async function open(): Promise<ConfiguredMount> {
      if (kind !== undefined) return kindMount(kind, name, { [kind.key]: source, prefix }, options);
      if (isUrl(source)) return upstreamMount(name, { url: source, prefix }, options);
      const files = { ...shown, path: source, name: basename(resolve(source)) || 'root' };
      return { name, provider: await nestedFiles(files, nested), prefix };
    }
    return { openedWith: [name, source, prefix], open };
  });
  const all = [...typed, ...servers.map((server) => serverSource(server, { prefix }, options))];
  return openAll(all, options.open);
}

export async function closeMounts(mounts: readonly Mount[]): Promise<void> {
  await Promise.allSettled(mounts.map((mount) => mount.provider.close?.()));
}

/** The most characters of a generated name, without its number. */
const MAX_MADE_NAME_LENGTH = 40;

function nameOf(source: string, kind: Kind | undefined): readonly [string, string] {
  if (kind?.nameOf !== undefined) return [kind.nameOf(source), kind.key];
  return isUrl(source)
    ? [new URL(source).hostname.replace(/^www\./, ''), 'server']
    : [basename(resolve(source)), 'folder'];
}

/**
 * Makes a mount name from the name that the kind gives to the source, the last part of a path, or the host of a URL. Adds a
 * number if the name is taken or reserved.
 */
export function uniqueName(source: string, kind: Kind | undefined, taken: ReadonlySet<string>): string {
  const [text, otherwise] = nameOf(source, kind);
  const wanted = slug(slug(text).slice(0, MAX_MADE_NAME_LENGTH)) || otherwise;
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    const problem = mountNameProblem(name);
    if (problem !== undefined) throw new ConfigError(`${source}: ${problem}`);
    if (name !== STATE_MOUNT && !taken.has(name)) return name;
  }
}
