/** Asks the git program what it is, and how a repository keeps its data. */
import { execFile } from 'node:child_process';
import { devNull, tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { invalid, ResourceError } from '../../core/errors.ts';
import { type Git, isAtLeast, OLDEST_GIT } from './command.ts';
import type { Format } from './stand-in.ts';

const run = promisify(execFile);

/** Milliseconds that git has for saying its version. */
const START_MS = 10_000;

/** Versions of programs, asked once. */
const versions = new Map<string, Promise<Git['version']>>();

/** The version of a program. @throws ResourceError `unavailable` where there is none, or an older one than is needed */
export function versionOf(program: string): Promise<Git['version']> {
  const known = versions.get(program) ?? askVersion(program);
  versions.set(program, known);
  known.catch(() => versions.delete(program));
  return known;
}

async function askVersion(program: string): Promise<Git['version']> {
  const { stdout } = await run(program, ['--version'], { timeout: START_MS }).catch((cause: unknown) => {
    throw new ResourceError('unavailable', 'git cannot be started here; install it to serve repositories', { cause });
  });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const version = [Number(major), Number(minor)] as const;
  if (!isAtLeast(version, OLDEST_GIT))
    throw new ResourceError('unavailable', `git ${OLDEST_GIT.join('.')} or later is needed; here is ${stdout.trim()}`);
  return version;
}

/** For a command that reads its input, and nothing else. */
const QUIET = {
  PATH: process.env.PATH,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  HOME: tmpdir(),
};

/**
 * How objects and references are kept: all that is taken from the repository's configuration.
 * @throws ResourceError `invalid` for a way that is not known
 */
export async function formatOf(program: string, config: Buffer | undefined, path: string): Promise<Format> {
  // Most have nothing to say about it, and are not worth a process.
  if (config === undefined || !/extensions/i.test(config.toString('latin1')))
    return { objectFormat: 'sha1', reftable: false };
  const args = ['config', '--file', '-', '--no-includes', '--get-regexp', '^extensions\\.'];
  const running = run(program, args, { timeout: START_MS, cwd: tmpdir(), env: QUIET });
  running.child.stdin?.on('error', () => {}).end(config);
  const { stdout } = await running.catch((error: { readonly code?: unknown }) => {
    // 1: there is nothing of that kind.
    if (error.code === 1) return { stdout: '' };
    throw new ResourceError('invalid', `The configuration of ${path} cannot be read`, { cause: error });
  });
  const said = new Map(stdout.split('\n').map((line) => line.toLowerCase().split(' ') as [string, string | undefined]));
  const objectFormat = said.get('extensions.objectformat') ?? 'sha1';
  const storage = said.get('extensions.refstorage') ?? 'files';
  if (objectFormat !== 'sha1' && objectFormat !== 'sha256')
    throw invalid(`${path} keeps its objects in a way that is not known here: ${objectFormat}`);
  if (storage !== 'files' && storage !== 'reftable')
    throw invalid(`${path} keeps its references in a way that is not known here: ${storage}`);
  return { objectFormat, reftable: storage === 'reftable' };
}
