/**
 * A git repository as resources: `git:///HEAD/src/x.ts` is a file as it is now, `git:///branches/main`, `git:///tags/v1`
 * and `git:///commits/<hash>` are the same of other revisions, `git:///log/...`, `git:///diff/...` and
 * `git:///blame/...` tell how it came about. Nothing that the repository says is executed, and nothing outside is read.
 *
 * @example
 * const history = await gitProvider({ path: './project.git' });
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalid } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { type GitOptions, gitConfig } from './config.ts';
import { openRepository } from './open.ts';
import { formatOf, versionOf } from './program.ts';
import { borrowing, locate } from './repository.ts';
import { makeStandIn } from './stand-in.ts';

export { type GitConfig, type GitOptions, gitConfig } from './config.ts';

/**
 * @throws ResourceError `invalid` when there is no repository, or it leads elsewhere; `unavailable` when there is no git.
 *   The message has the path as it was given, since it is for whoever starts the server.
 */
export async function gitProvider(options: GitOptions): Promise<ResourceProvider> {
  const { path, name, program = 'git', ...rest } = options;
  const rules = gitConfig.omit({ git: true }).parse(rest);
  const version = await versionOf(program);
  const place = await locate(path);
  const borrowed = rules.alternates ? undefined : await borrowing(place);
  if (borrowed !== undefined)
    throw invalid(`${path} has objects elsewhere, by ${borrowed}; say alternates: true to serve those too`);
  const config = await readFile(join(place.commonDirectory, 'config')).catch(() => undefined);
  const format = await formatOf(program, config, path);
  const standIn = makeStandIn(place, format, rules.alternates);
  return openRepository({
    name: name ?? place.called,
    rules,
    program,
    version,
    place,
    watched: place,
    format,
    directory: standIn.directory,
    base: '',
    commitsOnly: false,
    refresh: async () => {},
    close: async () => standIn.remove(),
  });
}
