/** Serves a repository that lies in a served folder. */
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { gitFailed } from './command.ts';
import { gitConfig } from './config.ts';
import { configurationOf, makeMirror } from './mirror.ts';
import { openRepository } from './open.ts';
import { formatOf, versionOf } from './program.ts';
import type { Source } from './source.ts';

export { pathBelow, SCHEME } from './address.ts';

export interface GitFolderOptions {
  readonly source: Source;
  /** The name of the root. */
  readonly name: string;
  /** The path of the repository's root in the URIs of clients, for links, such as `/project/.git`. */
  readonly base: string;
  /** The path of the repository on this machine, which is watched for changes. */
  readonly path: string;
}

/**
 * Makes the provider of a repository in a folder that others may write to. Whatever they put into the repository, Vitrine
 * reads nothing outside of it (`docs/decisions/0048-nested.md`).
 * @throws ResourceError `invalid`, `too-large`, `unavailable`
 */
export async function gitFolderProvider({ source, name, base, path }: GitFolderOptions): Promise<ResourceProvider> {
  const program = 'git';
  const version = await versionOf(program);
  const format = await formatOf(program, await configurationOf(source), 'the repository');
  const mirror = await makeMirror(source, format).catch(failed);
  const { directory, close } = mirror;
  const watched = { gitDirectory: path, commonDirectory: path, called: name };
  return openRepository({
    name,
    rules: gitConfig.omit({ git: true }).parse({}),
    program,
    version,
    place: { ...mirror.place, called: name },
    watched,
    format,
    directory,
    base,
    commitsOnly: true,
    refresh: () => mirror.refresh().catch(failed),
    close,
  });
}

/** Turns a system error into `unavailable`: the folder for temporary files may be full or missing. */
function failed(error: unknown): never {
  throw error instanceof ResourceError ? error : gitFailed(error);
}
