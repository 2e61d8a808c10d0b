/** `vitrine authorize`: authorizes Vitrine at one server of a configuration, with a browser. */
import { basename, dirname, resolve } from 'node:path';
import { ConfigError } from '../config/error.ts';
import { kindOfFile } from '../config/file-kind.ts';
import { hostServersOf, loadConfig, loadHostFile } from '../config/load.ts';
import { isUrl } from '../config/references.ts';
import type { HostFile } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import { type AuthConfig, authorizeUpstream } from '../providers/upstream/auth/index.ts';
import { UsageError } from './errors.ts';

/**
 * Prints the address to open, waits until the user has signed in there, and saves the tokens for `vitrine serve`.
 * @throws UsageError for a missing mount or one without OAuth; ResourceError when the server refuses or the user takes too long
 */
export async function authorize(path: string, name: string, secrets: Secrets): Promise<void> {
  const { url, auth } = authorizable(name, await blocksOf(path, secrets));
  const onAddress = ({ href }: URL): void => {
    process.stdout.write(`Open this address in a browser on this machine:\n\n${href}\n\n`);
  };
  await authorizeUpstream(auth, { mount: name, url }, { onAddress });
  process.stdout.write(`Vitrine is authorized for "${name}" at ${new URL(url).origin}\n`);
}

type Blocks = ReadonlyMap<string, unknown>;

/** Reads the blocks of all mounts, by name, from a configuration or the file of a host. */
async function blocksOf(path: string, secrets: Secrets): Promise<Blocks> {
  try {
    const { mounts, mcpServers = {} } = await loadConfig(path, { secrets });
    return new Map([...Object.entries(mounts), ...hostBlocks(mcpServers, path)]);
  } catch (error) {
    if (!(error instanceof ConfigError) || !(await mayBeOfHost(path))) throw error;
    const { mcpServers, servers } = await loadHostFile(path, { secrets });
    return new Map(hostBlocks(mcpServers ?? servers ?? {}, path));
  }
}

const hostBlocks = (entries: NonNullable<HostFile['servers']>, path: string): [string, unknown][] =>
  hostServersOf(entries, dirname(resolve(path))).map(({ name, block }) => [name, block]);

/** Tells whether a JSON file may be one of a host. A file with `mounts` is a configuration with a mistake. */
const mayBeOfHost = async (path: string): Promise<boolean> =>
  path.endsWith('.json') && basename(path) !== 'vitrine.json' && (await kindOfFile(path)) !== 'configuration';

type Authorizable = { readonly url: string; readonly auth: Parameters<typeof authorizeUpstream>[0] };

function authorizable(name: string, blocks: Blocks): Authorizable {
  const block = blocks.get(name);
  if (block === undefined)
    throw new UsageError(`The configuration has no mount "${name}"; its mounts are ${[...blocks.keys()].join(', ')}`);
  if (typeof block === 'string' && isUrl(block))
    throw new UsageError(
      `Mount "${name}" is only a URL; to authorize it, write a block with url and auth: { type: oauth }`,
    );
  if (!isHttp(block)) throw new UsageError(`Mount "${name}" has no url, so there is nothing to authorize`);
  const { url, auth } = block;
  if (auth === undefined) throw new UsageError(`Say auth: { type: oauth } in mount "${name}" to authorize it`);
  if (auth.type !== 'oauth')
    throw new UsageError(`Mount "${name}" has auth of type ${auth.type}: there is nothing to authorize`);
  return { url, auth };
}

const isHttp = (block: unknown): block is { readonly url: string; readonly auth?: AuthConfig } =>
  typeof block === 'object' && block !== null && 'url' in block;
