/** The commands that start the servers, and a repository for those that need one. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that everything is installed in. */
export const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** How a server is started. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  /** The variables that the environment has besides those of every child process. */
  readonly env: Readonly<Record<string, string>>;
}

type Of<Value> = Value | ((scratch: string) => Value);

/** A program of one of the Node.js packages; arguments and environment may depend on the folder for what it writes. */
export function node(program: string, args: Of<readonly string[]> = [], env: Of<Start['env']> = {}) {
  const file = join(FOLDER, 'node_modules', program);
  return (scratch: string): Start => ({
    command: process.execPath,
    args: [file, ...given(args, scratch)],
    env: given(env, scratch),
  });
}

/** The server that was built in the folder of a language. */
export function built(language: 'go' | 'rust', args: readonly string[] = []) {
  const program = process.platform === 'win32' && language === 'rust' ? 'server.exe' : 'server';
  return (): Start => ({ command: join(FOLDER, language, '.built', program), args, env: {} });
}

/** A program of one of the virtual environments. */
export function python(venv: string, program: string, args: Of<readonly string[]> = []) {
  const windows = process.platform === 'win32';
  const command = join(FOLDER, venv, windows ? 'Scripts' : 'bin', windows ? `${program}.exe` : program);
  // FastMCP asks the package index for newer versions of itself unless it is told not to.
  const env = { NO_COLOR: '1', FASTMCP_CHECK_FOR_UPDATES: 'off' };
  return (scratch: string): Start => ({ command, args: given(args, scratch), env });
}

function given<Value>(value: Of<Value>, scratch: string): Value {
  return typeof value === 'function' ? (value as (scratch: string) => Value)(scratch) : value;
}

/** A repository that is the same each time. */
export async function repository(scratch: string): Promise<void> {
  const folder = join(scratch, 'repository');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'note.txt'), 'behind glass\n');
  const who = { name: 'Vitrine', email: 'dev@vitrine.invalid', date: '2026-01-02T03:04:05Z' };
  const env = {
    ...process.env,
    GIT_AUTHOR_NAME: who.name,
    GIT_AUTHOR_EMAIL: who.email,
    GIT_AUTHOR_DATE: who.date,
    GIT_COMMITTER_NAME: who.name,
    GIT_COMMITTER_EMAIL: who.email,
    GIT_COMMITTER_DATE: who.date,
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, stdio: 'ignore' });
  git('init', '--initial-branch=main');
  git('add', '.');
  git('-c', 'commit.gpgsign=false', 'commit', '--message=A note');
}
