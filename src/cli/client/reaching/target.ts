/** Finds the server of the first argument: a URL, a command line, a folder or configuration to serve, or a server of a host. */
import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { basename, delimiter, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { distance } from 'fastest-levenshtein';
import type { HttpTarget } from '../../../client/http.ts';
import { parseCommandLine, type StdioTarget } from '../../../client/node/stdio.ts';
import { isUrl } from '../../../config/references.ts';
import type { Secrets } from '../../../config/secrets.ts';
import { UsageError } from '../../errors.ts';
import { isExecutable } from '../../executable.ts';
import { safe } from '../printing/output.ts';
import { type KnownServer, knownServers } from './known-servers.ts';

export interface TargetFlags {
  /** The file in which names are looked up, instead of hosts' files. */
  readonly mcpConfig?: string;
  /** `Name: value`, for every request. */
  readonly header?: readonly string[];
  /** Sent as `Authorization: Bearer`. */
  readonly bearer?: string;
  /** `NAME=value`, for a program. */
  readonly env?: readonly string[];
  /** Serves a path as a document, whatever its content. */
  readonly asDocument?: boolean;
}

export interface NamedTarget {
  /** The name in messages: safe to print, without secrets. */
  readonly label: string;
  readonly kind: 'url' | 'command' | 'path' | 'host';
  readonly server: HttpTarget | StdioTarget;
  /** The path or URL that `server` serves, if this process could serve it too. */
  readonly source?: string | undefined;
  /** A note that the command prints before it connects. */
  readonly note?: string | undefined;
}

/** @throws UsageError for an unknown name, and for options that do not fit the server; ConfigError for an unusable entry */
export async function openTarget(typed: string, flags: TargetFlags, secrets: Secrets): Promise<NamedTarget> {
  if (typed.trim() === '')
    throw new UsageError('Name a server: a URL, a command in quotes, a folder, or a server of a host');
  if (isUrl(typed)) return httpTarget(typed, flags, secrets);
  if (flags.mcpConfig === undefined && existsSync(typed)) return servedTarget(typed, resolve(typed), flags, secrets);
  const entry = await entryNamed(typed, flags.mcpConfig);
  if (entry !== undefined) return hostTarget(entry, flags, secrets);
  // A database, a repository or a bucket: the provider reports errors in its URL.
  if (/^[a-z][a-z0-9+.-]+:\/\/\S+$/i.test(typed)) return servedTarget(typed, typed, flags, secrets);
  if (/\s/.test(typed.trim()) || (await isProgram(typed))) return commandTarget(typed, flags, secrets);
  throw new UsageError(await nothingCalled(typed, flags.mcpConfig));
}

/** The most characters of a command line in front of a message. */
const MAX_LABEL = 60;

const words = (text: string): string => text.replace(/\s+/g, ' ').trim();

async function httpTarget(url: string, flags: TargetFlags, secrets: Secrets): Promise<NamedTarget> {
  refuse(flags.env, '--env is for programs; a server at an address takes --header');
  const { username, password } = URL.canParse(url) ? new URL(url) : {};
  if (username === undefined)
    throw new UsageError('The address cannot be read; give one as in https://mcp.example/mcp');
  if (username !== '' || password !== '')
    throw new UsageError('The address contains a user or a password; give them with --header or --bearer');
  const headers = headersOf(flags);
  const server = Object.keys(headers).length === 0 ? { url } : await checked({ url, headers }, secrets);
  return { label: originOf(url), kind: 'url', server };
}

/** Replaces references to the environment by their values. */
async function checked(
  entry: { readonly url: string; readonly headers: object },
  secrets: Secrets,
): Promise<HttpTarget> {
  const { blockOf } = await import('./host-block.ts');
  const block = blockOf(entry, 'The headers', secrets);
  return { url: entry.url, headers: 'headers' in block ? block.headers : undefined };
}

async function commandTarget(line: string, flags: TargetFlags, secrets: Secrets): Promise<NamedTarget> {
  let parsed: ReturnType<typeof parseCommandLine>;
  try {
    parsed = parseCommandLine(line);
  } catch (error) {
    throw new UsageError(`${(error as Error).message}: ${words(line)}`);
  }
  const label = safe(line.trim());
  return {
    label: label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label,
    kind: 'command',
    server: await programOf(parsed, flags, secrets),
  };
}

/** Serves a source with this program: in this process, or in another one. */
async function servedTarget(typed: string, source: string, flags: TargetFlags, secrets: Secrets): Promise<NamedTarget> {
  const [script = ''] = process.argv.slice(1);
  // A configuration may refer to any environment variable.
  const environment = Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const server = await programOf(
    { command: process.execPath, args: [script, 'serve', source], env: Object.fromEntries(environment) },
    flags,
    secrets,
  );
  const label = safe(withoutUser(typed));
  const note =
    flags.asDocument !== true && (await isExecutable(source))
      ? `${label} is a program, and is served as a file; "env ${label}" in its place runs it as a server`
      : undefined;
  return { label, kind: 'path', server, note, ...(flags.env === undefined && { source }) };
}

async function hostTarget(server: KnownServer, flags: TargetFlags, secrets: Secrets): Promise<NamedTarget> {
  const { name, entry, file, base } = server;
  const { blockOf } = await import('./host-block.ts');
  const from = `${basename(file)}, server "${safe(name)}"`;
  const block = blockOf('url' in entry ? { ...entry, headers: headersOf(flags, entry.headers) } : entry, from, secrets);
  const label = safe(name);
  if (!('url' in block)) {
    const { command, args, env, cwd } = block;
    const at = cwd === undefined ? base : resolve(base ?? '', cwd);
    return {
      label,
      kind: 'host',
      server: await programOf({ command, args, env, ...(at !== undefined && { cwd: at }) }, flags, secrets),
    };
  }
  refuse(flags.env, '--env is for programs; a server at an address takes --header');
  const { url, headers, auth } = block;
  if (auth === undefined) return { label, kind: 'host', server: { url, headers } };
  const { createAuth } = await import('../../../providers/upstream/auth/index.ts');
  return { label, kind: 'host', server: { url, headers, authProvider: createAuth(auth, { mount: name, url }) } };
}

async function programOf(server: StdioTarget, flags: TargetFlags, secrets: Secrets): Promise<StdioTarget> {
  refuse(flags.header, '--header is for servers at an address; a program takes --env');
  refuse(flags.bearer, '--bearer is for servers at an address; a program takes --env');
  if (flags.env === undefined) return server;
  const { blockOf } = await import('./host-block.ts');
  const added = Object.fromEntries(
    flags.env.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError('--env takes NAME=value');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  const block = blockOf({ command: server.command, env: added }, '--env', secrets);
  return { ...server, env: { ...server.env, ...('env' in block ? block.env : {}) } };
}

function headersOf({ header = [], bearer }: TargetFlags, given?: unknown): Record<string, unknown> {
  const typed = header.map((line) => {
    const at = line.indexOf(':');
    if (at < 1) throw new UsageError("--header takes 'Name: value'");
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  const all = [...typed, ...(bearer === undefined ? [] : [['Authorization', `Bearer ${bearer}`] as const])];
  const replaced = new Set(all.map(([name]) => name.toLowerCase()));
  const kept = Object.entries((given ?? {}) as Record<string, unknown>).filter(
    ([name]) => !replaced.has(name.toLowerCase()),
  );
  return Object.fromEntries([...kept, ...all]);
}

function refuse(flag: unknown, message: string): void {
  if (flag !== undefined) throw new UsageError(message);
}

/** Removes user and password from a database URL. */
const withoutUser = (text: string): string => text.replace(/^([a-z][a-z0-9+.-]+:\/\/)[^/@\s]*@/i, '$1');

const originOf = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return safe(origin + pathname);
};

/** @throws UsageError if hosts give one name to different servers */
async function entryNamed(name: string, mcpConfig: string | undefined): Promise<KnownServer | undefined> {
  const found = (await knownServers(mcpConfig)).filter((server) => server.name === name);
  const [first, ...others] = found;
  // A file that came with a folder must not replace a server of the user.
  const other = others.find(({ entry }) => !isDeepStrictEqual(entry, first?.entry));
  if (first === undefined || other === undefined) return first;
  throw new UsageError(
    `"${safe(name)}" is one server in ${first.file} and another one in ${other.file}; say which, with --mcp-config <file>`,
  );
}

async function nothingCalled(typed: string, mcpConfig: string | undefined): Promise<string> {
  const names = [...new Set((await knownServers(mcpConfig)).map(({ name }) => name))];
  const near = names
    .map((name) => ({ name, far: distance(name.toLowerCase(), typed.toLowerCase()) }))
    .filter(({ far }) => far <= Math.max(2, typed.length / 3))
    .sort((a, b) => a.far - b.far)[0];
  const hint =
    near !== undefined
      ? `did you mean "${safe(near.name)}"?`
      : 'vitrine servers lists those of hosts; a command is given in quotes, as in "npx -y some-server"';
  const where =
    mcpConfig === undefined ? 'no such file, server of a host, or program' : `no such server in ${mcpConfig}`;
  return `"${safe(typed)}": ${where}; ${hint}`;
}

async function isProgram(name: string): Promise<boolean> {
  if (/[\\/]/.test(name)) return false;
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const there = await access(join(folder, name + ending), constants.X_OK).then(
        () => true,
        () => false,
      );
      if (there) return true;
    }
  }
  return false;
}
