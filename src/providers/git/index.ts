/**
 * Serves a git repository: `git:///HEAD/src/x.ts` is the current version of a file; `git:///branches/main`,
 * `git:///tags/v1` and `git:///commits/<hash>` are trees of other revisions; `git:///log/...`, `git:///diff/...` and
 * `git:///blame/...` show the history. Vitrine executes nothing from the repository, and reads nothing outside it, except
 * objects that it borrows from others, if `alternates` is set.
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
 * Makes a provider of a repository.
 * @throws ResourceError `invalid` if there is no repository, if it refers to another place, or if Vitrine cannot read its
 *   format; `unavailable` if git is missing or too old. The message may have the given path, since only the operator of the
 *   server sees it.
 */
export async function gitProvider(options: GitOptions): Promise<ResourceProvider> {
  const { path, name, program = 'git', ...rest } = options;
  const rules = gitConfig.omit({ git: true }).parse(rest);
  const version = await versionOf(program);
  const place = await locate(path);
  const borrowed = rules.alternates ? undefined : await borrowing(place);
  if (borrowed !== undefined)
    throw invalid(`${path} has objects in other folders, by ${borrowed}; set alternates: true to serve those too`);
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
