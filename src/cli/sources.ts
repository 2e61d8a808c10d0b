/** What `serve` and `check` are to serve: paths and URLs as typed, a configuration, or the servers of a host. */
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { cedarOf } from '../config/cedar.ts';
import { ConfigError } from '../config/error.ts';
import { kindOfFile } from '../config/file-kind.ts';
import type { HostServer } from '../config/host-servers.ts';
import { kindOfSource } from '../config/kinds/index.ts';
import { nameServers } from '../config/mount-names.ts';
import { closeOpened, mountsOf, mountsOfSources } from '../config/mounts.ts';
import { promptFoldersOf } from '../config/prompts.ts';
import { isUrl } from '../config/references.ts';
import type { Config } from '../config/schema.ts';
import { addPassword, type Secrets } from '../config/secrets.ts';
import type { ConfiguredMount, UpstreamSurroundings } from '../config/upstream-mounts.ts';
import type { AccessPolicy } from '../core/access.ts';
import type { Log } from '../core/context.ts';
import type { PromptFolder } from '../core/prompt.ts';
import type { EngineOptions } from '../engine/index.ts';
import type { AccessRules } from '../layers/access/index.ts';
import type { AlternativesOptions } from '../layers/alternatives/index.ts';
import { anchorOf } from '../layers/audit/anchor.ts';
import type { UsageLimits } from '../layers/limits/index.ts';
import { isDatabaseUrl } from '../providers/sql/dialects.ts';
import { UsageError } from './errors.ts';
import { isExecutable } from './executable.ts';

export interface Sources {
  readonly mounts: readonly ConfiguredMount[];
  readonly promptFolders: readonly PromptFolder[];
  readonly config: Partial<Config>;
  /** What decides instead of the rules of the configuration. */
  readonly policy?: AccessPolicy | undefined;
  /** The files that say what is served: while they change, it may. */
  readonly files: readonly string[];
  /** The arguments of `vitrine serve` that serve the same from any working directory. */
  readonly args: readonly string[];
  /** Keys of hosts that mean nothing here, by server; undefined where there are none. */
  readonly ignored: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface SourceFlags {
  readonly config?: string;
  readonly mcpConfig?: string;
  readonly hidden?: boolean;
  readonly gitignore?: boolean;
  /** Archives and SQLite files are gone into. */
  readonly nested?: boolean;
  /** YAML and JSON files are documents, whatever is in them. */
  readonly asDocument?: boolean;
}

interface Opening extends Pick<UpstreamSurroundings, 'sole'> {
  readonly log: Log;
  readonly secrets: Secrets;
  /** What is served already, as long as its files have changed: its mounts stay open where they are wanted again. */
  readonly before?: Sources | undefined;
}

/** What of the engine may be said on the command line; it goes before what a configuration says. */
export interface EngineFlags {
  readonly name?: string;
  readonly tools?: 'all' | 'read' | 'off';
  readonly icons?: 'on' | 'off';
}

/** Files that are configurations by their name. */
export const CONFIG_NAMES: ReadonlySet<string> = new Set(['vitrine.yaml', 'vitrine.yml', 'vitrine.json']);

/** @throws UsageError, ConfigError, ResourceError `invalid` */
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
  const surroundings = { base, log, sole, open: before?.mounts };
  const mounts = await mountsOfSources(
    paths,
    servers,
    surroundings,
    defined({ hidden, gitignore, nested: nested === true ? ('on' as const) : undefined }),
  );
  return { mounts, promptFolders: [], config: {}, files: mcpFiles, args, ignored: ignoredOf(servers) };
}

interface NamedSources extends Typed {
  /** The configuration. */
  readonly file: string | undefined;
  readonly args: Sources['args'];
}

/** What was typed, told apart. Nothing is opened. @throws UsageError */
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
 * @throws UsageError for a file with `mounts` that no configuration's name says to be one
 */
async function withServers(paths: readonly string[], { mcpConfig, config }: SourceFlags): Promise<Typed> {
  const kinds = await Promise.all(paths.map((path) => (isUrl(path) ? 'document' : kindOfFile(path))));
  const configuration = paths.find((path, at) => kinds[at] === 'configuration' && !CONFIG_NAMES.has(basename(path)));
  if (configuration !== undefined)
    throw new UsageError(
      `${configuration} has mounts in it, as a configuration does: say --config ${configuration} to serve those, or ` +
        '--as-document to serve the file itself',
    );
  const [servers, ...others] = paths.filter((_, at) => kinds[at] === 'servers');
  if (servers === undefined) return { paths, mcpConfig };
  if (others.length > 0 || mcpConfig !== undefined || config !== undefined)
    throw new UsageError(
      `${others[0] ?? servers} has mcpServers in it, and one file of those is served at a time; say --as-document to serve ` +
        'such files themselves',
    );
  return { paths: paths.filter((path) => path !== servers), mcpConfig: servers };
}

async function openConfig(
  file: string,
  more: readonly HostServer[],
  { log, secrets, sole, before }: Opening,
): Promise<Omit<Sources, 'args' | 'files'>> {
  const { hostServersOf, loadConfig } = await import('../config/load.ts');
  const config = await loadConfig(file, { secrets });
  for (const mount of Object.values(config.mounts))
    addPassword(typeof mount === 'object' && 'sql' in mount ? mount.sql : mount, secrets);
  const base = dirname(resolve(file));
  const settled = { ...config, ...auditFrom(config, base), ...tlsFrom(config, base) };
  if (before !== undefined) assertSettled(before.config, settled, file);
  const servers = hostServersOf(config.mcpServers ?? {}, base);
  assertNotItself(servers, file);
  const taken = [...Object.keys(config.mounts), ...servers.map((server) => server.name)];
  const clash = nameServers(
    more.map((server) => server.name),
    taken,
  ).find((each) => each.problem !== undefined);
  if (clash !== undefined) throw new ConfigError(`--mcp-config, server ${clash.title}: ${clash.problem}`);
  const all = [...servers, ...more];
  const mounts = await mountsOf(config.mounts, { base, log, sole, open: before?.mounts }, all);
  try {
    const promptFolders = await promptFoldersOf(config, mounts, base);
    return {
      mounts,
      promptFolders,
      policy: before?.policy ?? (await cedarOf(config, { base, log })),
      config: settled,
      ignored: ignoredOf(all),
    };
  } catch (error) {
    await closeOpened(mounts, before?.mounts);
    throw error;
  }
}

/** What may be something else while it is served. */
const LIVE: ReadonlySet<string> = new Set(['$schema', 'mounts', 'mcpServers', 'prompts']);

/** @throws ConfigError for what is decided when the server starts */
function assertSettled(before: Partial<Config>, after: Config, file: string): void {
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(after));
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter(
    (key) => !LIVE.has(key) && !isDeepStrictEqual(was.get(key), is.get(key)),
  );
  if (changed.length > 0)
    throw new ConfigError(
      `${basename(file)}: ${changed.join(', ')} cannot change while it is served; restart to take over the new configuration`,
    );
}

/** The audit file, and that of its anchor, lie where the configuration does, as every path in it. */
function auditFrom({ audit }: Config, base: string): Pick<Config, 'audit'> {
  if (audit === undefined) return {};
  const placeOf = (place: string): string => (place === '-' || isUrl(place) ? place : resolve(base, place));
  const anchor = audit.anchor === undefined ? undefined : anchorOf(audit.anchor);
  return {
    audit: {
      ...audit,
      file: audit.file === '-' ? audit.file : resolve(base, audit.file),
      ...(anchor !== undefined && { anchor: { ...anchor, to: placeOf(anchor.to) } }),
    },
  };
}

/** So do the certificates. */
function tlsFrom({ server }: Config, base: string): Pick<Config, 'server'> {
  if (server?.tls === undefined) return {};
  const { cert, key, ca } = server.tls;
  const paths = {
    cert: resolve(base, cert),
    key: resolve(base, key),
    ...(ca !== undefined && { ca: resolve(base, ca) }),
  };
  return { server: { ...server, tls: { ...server.tls, ...paths } } };
}

async function serversOf(file: string, secrets: Secrets): Promise<readonly HostServer[]> {
  const { hostServersOf, loadHostFile } = await import('../config/load.ts');
  const { mcpServers, servers } = await loadHostFile(file, { secrets });
  const found = hostServersOf(mcpServers ?? servers ?? {}, dirname(resolve(file)));
  assertNotItself(found, file);
  return found;
}

/** An entry that starts this gateway with the file that it stands in would start gateways without end. */
function assertNotItself(servers: readonly HostServer[], file: string): void {
  const itself = servers.find(
    ({ block, base }) =>
      'command' in block && block.args?.some((arg) => resolve(block.cwd ?? base, arg) === resolve(file)),
  );
  if (itself !== undefined)
    throw new ConfigError(`${basename(file)}: the server "${itself.name}" is this gateway itself; disable it there`);
}

function ignoredOf(servers: readonly HostServer[]): Sources['ignored'] {
  const ignored = servers.filter((server) => server.ignored.length > 0).map(({ name, ignored }) => [name, ignored]);
  return ignored.length === 0 ? undefined : Object.fromEntries(ignored);
}

/** Begins what is a URL, and no path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/** @throws UsageError for a URL that is none of an MCP server */
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

/** The engine's options out of a configuration. */
export function engineOptions(
  { mounts, promptFolders, config, policy, files }: Sources,
  { name, ...flags }: EngineFlags = {},
): EngineOptions {
  const { limits = {}, listing = 'walk', confirm } = config;
  const icons = flags.icons ?? config.icons;
  const {
    allowHosts: _hosts,
    allowOrigins: _origins,
    allowRemote: _remote,
    card: _card,
    tls: _tls,
    ...identity
  } = config.server ?? {};
  const { redact = 'off', access, forms = 'on' } = config;
  const listed = typeof listing === 'string' ? { mode: listing } : listing;
  return {
    mounts,
    promptFolders,
    replaceable: files.length > 0,
    resourceTools: resourceTools(config.tools, flags.tools),
    confirm,
    access: policy ?? accessRules(access),
    redact: redact === 'off' ? undefined : redact === 'on' ? {} : redact,
    describe: config.describe,
    forms: forms === 'off' ? false : forms === 'on' ? {} : formsOf(forms),
    icons: icons === undefined ? 'described' : icons === 'on',
    server: defined({ ...identity, ...(name !== undefined && { name }) }),
    listing: listed.mode ?? 'walk',
    limits: defined({
      pageSize: limits.pageSize,
      maxReadBytes: limits.maxReadBytes,
      maxChildren: limits.maxChildren,
      keptBytes: limits.keptBytes,
      maxListed: 'maxResources' in listed ? listed.maxResources : undefined,
      maxDepth: 'maxDepth' in listed ? listed.maxDepth : undefined,
      ...usageLimits(config),
    }),
    timeoutMs: limits.timeoutSeconds === undefined ? undefined : limits.timeoutSeconds * 1_000,
    timeouts: Object.fromEntries(
      Object.entries(defined(limits.timeouts ?? {})).map(([operation, seconds]) => [operation, seconds * 1_000]),
    ),
  };
}

function resourceTools(tools: Config['tools'], typed: EngineFlags['tools']): EngineOptions['resourceTools'] {
  const word = typed ?? tools;
  if (word === 'off') return false;
  const block = typeof tools === 'object' ? tools : {};
  return word === 'read' || word === 'all' ? { ...block, offer: word } : block;
}

function formsOf({ timeoutSeconds, ...forms }: Exclude<Config['forms'], string | undefined>): AlternativesOptions {
  return { ...forms, ...(timeoutSeconds !== undefined && { timeoutMs: timeoutSeconds * 1_000 }) };
}

const accessRules = (access: Config['access']): AccessRules | undefined =>
  access === undefined ? undefined : { rules: access.rules ?? [], default: access.default };

function usageLimits({ limits = {}, auth }: Partial<Config>): UsageLimits {
  return {
    rates: limits.rates,
    maxConcurrent: limits.maxConcurrent,
    maxConcurrentPerPrincipal: limits.maxConcurrentPerPrincipal,
    maxHeldBytes: limits.maxHeldBytes,
    maxSubscriptions: limits.maxSubscriptions,
    maxSubscriptionsPerPrincipal: limits.maxSubscriptionsPerPrincipal,
    maxSessionsPerPrincipal: limits.maxSessionsPerPrincipal,
    maxStreamsPerPrincipal: limits.maxStreamsPerPrincipal,
    anonymousIsOne: auth !== undefined,
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the keys that are undefined, so that defaults stay. */
export function defined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Defined<T>;
}
