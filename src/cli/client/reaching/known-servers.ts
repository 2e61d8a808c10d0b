/** Finds the servers in the configurations of hosts on this machine, so that users can name them. It starts no server. */

import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { ConfigError } from '../../../config/error.ts';
import { isData } from '../../../protocol/data.ts';
import { formatOf } from '../../hosts/edit.ts';
import { type HostPlace, hostPlaces, type Machine } from './host-places.ts';

/** A server in the configuration of a host. Its entry is not checked yet. */
export interface KnownServer {
  readonly name: string;
  /** The host, or the file of `--mcp-config`. */
  readonly host: string;
  readonly file: string;
  readonly scope: 'project' | 'user' | 'named';
  /** Whether the server is turned off in the host. */
  readonly disabled: boolean;
  readonly kind: 'stdio' | 'http';
  /** The entry with the keys of `mcpServers`. It may contain secrets. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The folder that its relative paths start from; undefined for the folder that the command runs in. */
  readonly base: string | undefined;
}

/** The most bytes of the file of a host. Larger files are skipped: some hosts keep their whole history in them. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** The most bytes of a file for the slower parsers: of JSON with comments, YAML and TOML. */
const MAX_SLOW_BYTES = 1024 * 1024;

/** Describes the machine of this process. */
export const thisMachine = (): Machine => ({
  cwd: process.cwd(),
  home: homedir(),
  platform: process.platform,
  env: process.env,
});

/**
 * Returns the servers in the files of all hosts, or in one file.
 * @param mcpConfig the only file to read; undefined for the files of the hosts
 * @throws ConfigError if that file cannot be read, or has no servers
 */
export async function knownServers(
  mcpConfig: string | undefined,
  machine: Machine = thisMachine(),
): Promise<readonly KnownServer[]> {
  if (mcpConfig !== undefined) return inNamedFile(resolve(machine.cwd, mcpConfig), mcpConfig, machine);
  const found = await Promise.all(
    hostPlaces(machine).map(async (place) => {
      const content = await contentOf(place.file).catch(() => undefined);
      return serversIn(sectionOf(content, place.section), place, machine);
    }),
  );
  return found.flat();
}

/** Reads the servers from the first section that any host uses. */
async function inNamedFile(file: string, typed: string, machine: Machine): Promise<readonly KnownServer[]> {
  const content = await contentOf(file).catch((error: unknown) => {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`The file ${typed} of --mcp-config cannot be read`, { cause: error });
  });
  const sections = new Set(hostPlaces(machine).flatMap(({ section: keys }) => keys.at(-1) ?? []));
  const section = [...sections].find((key) => sectionOf(content, [key]) !== undefined);
  if (section === undefined) {
    const names = [...sections].join(', ');
    throw new ConfigError(`${basename(file)}: it has no section in which a host keeps its servers: ${names}`);
  }
  const place = { host: typed, file, scope: 'named' } as const;
  return serversIn(sectionOf(content, [section]), place, { ...machine, cwd: dirname(file) });
}

/** @throws ConfigError for a file that is too large, or in none of the formats of hosts */
async function contentOf(file: string): Promise<unknown> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new ConfigError(`${basename(file)}: it has more than ${MAX_FILE_BYTES} bytes`);
  const text = (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
  try {
    return JSON.parse(text);
  } catch {
    // It may be JSON with comments, YAML or TOML.
  }
  if (size > MAX_SLOW_BYTES) throw new ConfigError(`${basename(file)}: it is no JSON`);
  try {
    return (await formatOf(file, text)).parse(text);
  } catch (error) {
    throw new ConfigError(`${basename(file)}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function sectionOf(content: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  let section = content;
  for (const key of keys) section = isData(section) && Object.hasOwn(section, key) ? section[key] : undefined;
  return isData(section) ? section : undefined;
}

function serversIn(
  section: Readonly<Record<string, unknown>> | undefined,
  { host, file, scope }: Pick<HostPlace, 'host' | 'file'> & { readonly scope: KnownServer['scope'] },
  { cwd, home }: Pick<Machine, 'cwd' | 'home'>,
): readonly KnownServer[] {
  return Object.entries(section ?? {}).flatMap(([name, written]) => {
    const entry = isData(written) ? entryOf(written) : undefined;
    if (entry === undefined) return [];
    return {
      name,
      host,
      file,
      scope,
      disabled: isData(written) && (written.disabled === true || written.enabled === false),
      kind: 'url' in entry ? 'http' : 'stdio',
      entry: withVariables(entry, { cwd, home }),
      base: scope === 'user' ? undefined : cwd,
    } as const;
  });
}

/** Converts an entry from the keys of any host to those of `mcpServers`; undefined if it names no server. */
function entryOf(written: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const { command, cmd, url, httpUrl, serverUrl, uri, env, envs, environment, auth, type, cwd } = written;
  const headers = written.headers ?? written.http_headers;
  const http = httpUrl ?? serverUrl ?? url ?? (type === 'streamable_http' ? uri : undefined);
  if (http !== undefined)
    return { url: http, ...(headers !== undefined && { headers }), ...(isData(auth) && { auth }), ...sseOf(type) };
  // Zed has written commands as a block, opencode as a list.
  const block = isData(command) ? { command: command.path, args: command.args, env: command.env } : undefined;
  const list = Array.isArray(command) ? { command: command[0], args: command.slice(1) } : undefined;
  const program = block?.command ?? list?.command ?? command ?? cmd;
  if (program === undefined) return undefined;
  const args = block?.args ?? list?.args ?? written.args;
  const variables = block?.env ?? env ?? envs ?? environment;
  // Some hosts write empty arguments and an empty environment, others leave them out.
  const noArgs = args === undefined || args === null || (Array.isArray(args) && args.length === 0);
  const noVariables = !isData(variables) || Object.keys(variables).length === 0;
  return {
    command: program,
    ...(!noArgs && { args }),
    ...(!noVariables && { env: texts(variables) }),
    ...(cwd !== undefined && cwd !== null && { cwd }),
  };
}

const sseOf = (type: unknown) => (type === 'sse' ? { type } : {});

/** Converts numbers and booleans to texts, because an environment has only texts. */
const texts = (record: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ]),
  );

/** Fills in the variables that hosts fill in by themselves, such as `${workspaceFolder}`. */
function withVariables<T>(value: T, { cwd, home }: Pick<Machine, 'cwd' | 'home'>): T {
  const places: Readonly<Record<string, string>> = { workspaceFolder: cwd, workspaceRoot: cwd, userHome: home };
  const fill = (part: unknown): unknown => {
    if (typeof part === 'string')
      return part.replace(
        /\$\{(workspaceFolder|workspaceRoot|userHome)\}/g,
        (all, name: string) => places[name] ?? all,
      );
    if (Array.isArray(part)) return part.map(fill);
    if (isData(part)) return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, fill(inner)]));
    return part;
  };
  return fill(value) as T;
}
