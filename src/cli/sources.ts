/** Opens the sources of `serve`, `check` and other commands: paths and URLs, a configuration, or the servers of a host. */
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { kindOfFile } from '../config/file-kind.ts';
import type { HostServer } from '../config/host-servers.ts';
import { kindOfSource } from '../config/kinds/index.ts';
import { closeMounts, mountsOfSources } from '../config/mounts.ts';
import { isUrl } from '../config/references.ts';
import { addPassword, type Secrets } from '../config/secrets.ts';
import { assertNotItself, type Configured, ignoredOf, type Opening, openConfig } from '../configured/open.ts';
import { defined } from '../core/defined.ts';
import { isDatabaseUrl } from '../providers/sql/dialects.ts';
import { UsageError } from './errors.ts';
import { isExecutable } from './executable.ts';

/** The opened sources of `serve` or `check`. */
export interface Sources extends Configured {
  /** The configuration files. `serve` reloads them when they change. */
  readonly files: readonly string[];
  /** The arguments of `vitrine serve` that serve the same from any working directory. */
  readonly args: readonly string[];
}

/** The options that name sources, or change how they are served. */
export interface SourceFlags {
  readonly config?: string;
  readonly mcpConfig?: string;
  readonly hidden?: boolean;
  readonly gitignore?: boolean;
  /** Serves the contents of archives, SQLite files and git repositories in the paths, too. */
  readonly nested?: boolean;
  /** Serves YAML and JSON files as documents, even if they are configurations. */
  readonly asDocument?: boolean;
}

/** The names by which a file is recognized as a configuration. */
export const CONFIG_NAMES: ReadonlySet<string> = new Set(['vitrine.yaml', 'vitrine.yml', 'vitrine.json']);

/** Opens the mounts of all sources, and starts upstreams that connect at once. @throws UsageError, ConfigError, ResourceError `invalid` */
export async function openSources(typed: readonly string[], flags: SourceFlags, opening: Opening): Promise<Sources> {
  const { log, secrets, sole, before } = opening;
  const { hidden, gitignore, nested } = flags;
  const { file, paths, mcpConfig, args } = await namedSources(typed, flags, secrets);
  const servers = mcpConfig === undefined ? [] : await serversOf(mcpConfig, secrets);
  const mcpFiles = mcpConfig === undefined ? [] : [resolve(mcpConfig)];
  if (file !== undefined) {
    return { ...(await openConfig(file, servers, opening)), files: [resolve(file), ...mcpFiles], args };
  }
  for (const path of paths)
    if (await isExecutable(path)) log.warn('a program is served as a file; a mount with command: runs it', { path });
  const base = mcpConfig === undefined ? process.cwd() : dirname(resolve(mcpConfig));
  const options = { base, log, sole, open: before?.mounts };
  const mounts = await mountsOfSources(
    paths,
    servers,
    options,
    defined({ hidden, gitignore, nested: nested === true ? ('on' as const) : undefined }),
  );
  return { mounts, promptFolders: [], config: {}, files: mcpFiles, args, ignored: ignoredOf(servers) };
}

interface NamedSources extends Typed {
  /** The configuration file, if there is one. */
  readonly file: string | undefined;
  readonly args: Sources['args'];
}

/** Sorts what was typed into paths, a configuration and servers of a host. Opens nothing. @throws UsageError */
export async function namedSources(
  typed: readonly string[],
  flags: SourceFlags,
  secrets: Secrets,
): Promise<NamedSources> {
  const { config: configPath, hidden, gitignore, nested } = flags;
  const { paths, mcpConfig } = flags.asDocument === true ? { paths: typed, ...flags } : await withServers(typed, flags);
  const isConfig = (path: string): boolean =>
    flags.asDocument !== true && CONFIG_NAMES.has(basename(path)) && !isUrl(path);
  const file = configPath ?? paths.find(isConfig);
  if (file !== undefined && paths.length > (configPath === undefined ? 1 : 0))
    throw new UsageError('Serve either paths or a configuration, not both; add the paths to its mounts');
  if ((hidden || gitignore || nested) && (file !== undefined || paths.length === 0))
    throw new UsageError('--hidden, --gitignore and --nested are for paths; in a configuration say so in each mount');
  const mcpArgs = mcpConfig === undefined ? [] : ['--mcp-config', resolve(mcpConfig)];
  if (file !== undefined) return { file, paths: [], mcpConfig, args: ['--config', resolve(file), ...mcpArgs] };
  if (paths.length === 0 && mcpConfig === undefined) {
    const here = [...CONFIG_NAMES].find((name) => existsSync(name));
    throw new UsageError(
      `Say what to serve, as in: vitrine serve ./docs${here === undefined ? '' : `, or: vitrine serve ${here}`}`,
    );
  }
  for (const path of paths) addPassword(path, secrets);
  for (const path of paths) if ((await kindOfSource(path, process.cwd())) === undefined) assertServable(path);
  const args = [
    ...paths.map((path) => (SCHEME.test(path) || isDatabaseUrl(path) ? secrets.hide(path) : resolve(path))),
    ...mcpArgs,
    ...(hidden ? ['--hidden'] : []),
    ...(gitignore ? ['--gitignore'] : []),
    ...(nested ? ['--nested'] : []),
    ...(flags.asDocument ? ['--as-document'] : []),
  ];
  return { file, paths, mcpConfig, args };
}

interface Typed {
  readonly paths: readonly string[];
  readonly mcpConfig?: string | undefined;
}

/**
 * Takes a file with `mcpServers` among the paths as if `--mcp-config` named it.
 * @throws UsageError for a file with `mounts` that does not have the name of a configuration, and for a file with `mcpServers`
 *   beside another one or beside a configuration
 */
async function withServers(paths: readonly string[], { mcpConfig, config }: SourceFlags): Promise<Typed> {
  const kinds = await Promise.all(paths.map((path) => (isUrl(path) ? 'document' : kindOfFile(path))));
  const configuration = paths.find((path, at) => kinds[at] === 'configuration' && !CONFIG_NAMES.has(basename(path)));
  if (configuration !== undefined)
    throw new UsageError(
      `${configuration} has mounts in it, as a configuration does: give --config ${configuration} to serve the mounts, or ` +
        '--as-document to serve the file itself',
    );
  const [servers, ...others] = paths.filter((_, at) => kinds[at] === 'servers');
  if (servers === undefined) return { paths, mcpConfig };
  if (others.length > 0 || mcpConfig !== undefined || config !== undefined)
    throw new UsageError(
      `${others[0] ?? servers} has mcpServers in it, but only one such file or configuration is served at a time; give ` +
        '--as-document to serve the files themselves',
    );
  return { paths: paths.filter((path) => path !== servers), mcpConfig: servers };
}

async function serversOf(file: string, secrets: Secrets): Promise<readonly HostServer[]> {
  const { hostServersOf, loadHostFile } = await import('../config/load.ts');
  const { mcpServers, servers } = await loadHostFile(file, { secrets });
  const found = hostServersOf(mcpServers ?? servers ?? {}, dirname(resolve(file)));
  assertNotItself(found, file);
  return found;
}

/** The beginning of a URL; a text without it is a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/** @throws UsageError for a URL that no provider serves, or with a user or password in it */
function assertServable(path: string): void {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(path)?.[1];
  if (scheme === undefined) return;
  if (!isUrl(path))
    throw new UsageError(
      `${scheme}://... is a URL of a kind that is not served; there are http(s), postgres, mysql, mariadb, sqlite and s3`,
    );
  if (!URL.canParse(path))
    throw new UsageError(`The URL at ${scheme}: cannot be read; give one as in https://mcp.example/mcp`);
  const { origin, username, password } = new URL(path);
  if (username !== '' || password !== '')
    throw new UsageError(
      `The URL at ${origin} has a user or a password in it; put them into a configuration, as headers or auth`,
    );
}

/** Makes something from opened sources. If that fails, it closes the mounts, because their upstreams are started already. */
export async function madeFrom<T>({ mounts }: Sources, make: () => T): Promise<T> {
  try {
    return make();
  } catch (error) {
    await closeMounts(mounts);
    throw error;
  }
}
