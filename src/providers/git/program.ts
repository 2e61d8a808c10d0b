/** Asks the git program for its version, and for the storage formats of a repository. */
import { execFile } from 'node:child_process';
import { devNull, tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { invalid, ResourceError } from '../../core/errors.ts';
import { type Git, isAtLeast, OLDEST_GIT } from './command.ts';
import type { Format } from './stand-in.ts';

const run = promisify(execFile);

/** The most milliseconds that git may take to answer. */
const START_MS = 10_000;

/** The version of each program, determined once. */
const versions = new Map<string, Promise<Git['version']>>();

/** Returns the version of a program. @throws ResourceError `unavailable` if there is no git, or one that is too old */
export function versionOf(program: string): Promise<Git['version']> {
  const known = versions.get(program) ?? askVersion(program);
  versions.set(program, known);
  known.catch(() => versions.delete(program));
  return known;
}

async function askVersion(program: string): Promise<Git['version']> {
  const { stdout } = await run(program, ['--version'], { timeout: START_MS }).catch((cause: unknown) => {
    throw new ResourceError('unavailable', 'git cannot be started; install it to serve repositories', { cause });
  });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const version = [Number(major), Number(minor)] as const;
  if (!isAtLeast(version, OLDEST_GIT))
    throw new ResourceError(
      'unavailable',
      `git ${OLDEST_GIT.join('.')} or later is needed; this machine has ${stdout.trim()}`,
    );
  return version;
}

/** The environment in which git ignores all configuration of the machine. */
const QUIET = {
  PATH: process.env.PATH,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  HOME: tmpdir(),
};

/**
 * Reads the formats of objects and references from the repository's configuration, and nothing else.
 * @throws ResourceError `invalid` for a format that Vitrine cannot read, or for a damaged configuration
 */
export async function formatOf(program: string, config: Buffer | undefined, path: string): Promise<Format> {
  // Most repositories have no extension, so they have the default formats and need no process.
  if (config === undefined || !/extensions/i.test(config.toString('latin1')))
    return { objectFormat: 'sha1', reftable: false };
  const args = ['config', '--file', '-', '--no-includes', '--get-regexp', '^extensions\\.'];
  const running = run(program, args, { timeout: START_MS, cwd: tmpdir(), env: QUIET });
  running.child.stdin?.on('error', () => {}).end(config);
  const { stdout } = await running.catch((error: { readonly code?: unknown }) => {
    // Exit code 1: the configuration has no such key.
    if (error.code === 1) return { stdout: '' };
    throw new ResourceError('invalid', `The configuration of ${path} cannot be read`, { cause: error });
  });
  const said = new Map(stdout.split('\n').map((line) => line.toLowerCase().split(' ') as [string, string | undefined]));
  const objectFormat = said.get('extensions.objectformat') ?? 'sha1';
  const storage = said.get('extensions.refstorage') ?? 'files';
  if (objectFormat !== 'sha1' && objectFormat !== 'sha256')
    throw invalid(`${path} keeps its objects in the format "${objectFormat}"; only sha1 and sha256 can be read`);
  if (storage !== 'files' && storage !== 'reftable')
    throw invalid(`${path} keeps its references in the format "${storage}"; only files and reftable can be read`);
  return { objectFormat, reftable: storage === 'reftable' };
}
