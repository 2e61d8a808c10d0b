/** Opens what a configuration file names: its mounts, prompts and policy. */
import { basename, dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../config/error.ts';
import type { HostServer } from '../config/host-servers.ts';
import { nameServers } from '../config/mount-names.ts';
import { closeOpened, mountsOf } from '../config/mounts.ts';
import { policyOf } from '../config/policy.ts';
import { promptFoldersOf } from '../config/prompts.ts';
import { type Environment, isUrl } from '../config/references.ts';
import type { Config } from '../config/schema.ts';
import { addPassword, type Secrets } from '../config/secrets.ts';
import type { ConfiguredMount, OpenOptions } from '../config/upstream-mounts.ts';
import type { AccessPolicy } from '../core/access.ts';
import type { Log } from '../core/context.ts';
import type { Keys } from '../core/keys.ts';
import type { PromptFolder } from '../core/prompt.ts';
import { anchorOf } from '../layers/audit/anchor.ts';
import { keysOf } from './keys.ts';

/** The open mounts of a configuration, and its settings with paths that do not depend on the working directory. */
export interface Configured {
  readonly mounts: readonly ConfiguredMount[];
  readonly promptFolders: readonly PromptFolder[];
  readonly config: Partial<Config>;
  /** The file of the configuration; undefined for sources on a command line. */
  readonly file?: string | undefined;
  /** The keys that seal what clients hold; undefined if the configuration has none. */
  readonly keys?: Keys | undefined;
  /** Decides instead of the rules of the configuration. */
  readonly policy?: AccessPolicy | undefined;
  /** Keys of entries that only hosts understand, by server; undefined if there are none. */
  readonly ignored: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface Opening extends Pick<OpenOptions, 'sole'> {
  readonly log: Log;
  /** Takes the values of references in the configuration, to hide them later. */
  readonly secrets: Secrets;
  /** The values for references. Default: the environment of this process. */
  readonly env?: Environment | undefined;
  /** The configuration before its file changed. Mounts that did not change stay open. */
  readonly before?: Configured | undefined;
}

/**
 * Opens the mounts of a configuration. If one fails, it closes those that it has opened.
 * @param more servers of hosts that are mounted, too
 * @throws ConfigError, ResourceError `invalid`
 */
export async function openConfig(
  file: string,
  more: readonly HostServer[],
  { log, secrets, sole, before, env }: Opening,
): Promise<Configured> {
  const { hostServersOf, loadPlugged } = await import('../config/load.ts');
  const { config, plugged } = await loadPlugged(file, { secrets, env });
  for (const mount of Object.values(config.mounts))
    addPassword(typeof mount === 'object' && 'sql' in mount ? mount.sql : mount, secrets);
  addPassword(typeof config.index === 'object' ? config.index.url : config.index, secrets);
  hideBus(config.bus, secrets);
  const base = dirname(resolve(file));
  const settled = {
    ...config,
    ...auditFrom(config, base),
    ...tlsFrom(config, base),
    ...busFrom(config, base),
    ...answersFrom(config, base),
  };
  if (before !== undefined) assertSettled(before.config, settled, file);
  const keys = before === undefined ? await keysOf(config, base, secrets) : before.keys;
  const servers = hostServersOf(config.mcpServers ?? {}, base);
  assertNotItself(servers, file);
  const taken = [...Object.keys(config.mounts), ...servers.map((server) => server.name)];
  const clash = nameServers(
    more.map((server) => server.name),
    taken,
  ).find(({ problem }) => problem !== undefined);
  if (clash !== undefined) throw new ConfigError(`--mcp-config, server ${clash.title}: ${clash.problem}`);
  const all = [...servers, ...more];
  const mounts = await mountsOf(
    config.mounts,
    { base, log, sole, clientInfo: config.client, open: before?.mounts, plugged },
    all,
  );
  let promptFolders: readonly PromptFolder[] = [];
  try {
    promptFolders = await promptFoldersOf(config, mounts, base);
    return {
      file,
      mounts,
      promptFolders,
      keys,
      policy: before?.policy ?? (await policyOf(config, { base, log })),
      config: settled,
      ignored: ignoredOf(all),
    };
  } catch (error) {
    await Promise.all([
      closeOpened(mounts, before?.mounts),
      ...promptFolders.map(({ provider }) => provider?.close?.()),
    ]);
    throw error;
  }
}

/** Keys of a configuration that may change while it is served. */
const LIVE: ReadonlySet<string> = new Set(['$schema', 'mounts', 'mcpServers', 'prompts', 'kinds']);

/** @throws ConfigError if a key has changed that applies only when the server starts */
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

/** Resolves the paths of the audit file and its anchor against the folder of the configuration, as every path in it. */
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

/** Resolves the paths of certificates in the same way. */
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

/** Hides the passwords of the bus in everything that is printed or logged. */
function hideBus(bus: Config['bus'], secrets: Secrets): void {
  const address = typeof bus === 'object' ? bus : { url: bus };
  const urls = 'sentinels' in address ? address.sentinels : 'cluster' in address ? address.cluster : [address.url];
  for (const url of urls) addPassword(url, secrets);
  if ('password' in address && address.password !== undefined) secrets.add('PASSWORD', address.password);
}

function busFrom({ bus }: Config, base: string): Pick<Config, 'bus'> {
  return typeof bus === 'object' && bus.ca !== undefined ? { bus: { ...bus, ca: resolve(base, bus.ca) } } : {};
}

function answersFrom({ answers }: Config, base: string): Pick<Config, 'answers'> {
  return typeof answers === 'object' && 'folder' in answers
    ? { answers: { ...answers, folder: resolve(base, answers.folder) } }
    : {};
}

/** @throws ConfigError for a server that starts this gateway with the same file, which would start gateways without end */
export function assertNotItself(servers: readonly HostServer[], file: string): void {
  const itself = servers.find(
    ({ block, base }) =>
      'command' in block && block.args?.some((arg) => resolve(block.cwd ?? base, arg) === resolve(file)),
  );
  if (itself !== undefined)
    throw new ConfigError(`${basename(file)}: the server "${itself.name}" is this gateway itself; disable it there`);
}

/** Returns the keys that were ignored, by server; undefined if there are none. */
export function ignoredOf(servers: readonly HostServer[]): Configured['ignored'] {
  const ignored = servers.filter((server) => server.ignored.length > 0).map(({ name, ignored }) => [name, ignored]);
  return ignored.length === 0 ? undefined : Object.fromEntries(ignored);
}
