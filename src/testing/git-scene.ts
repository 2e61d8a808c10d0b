/** Makes a repository for one test with git itself, and removes it after the test. */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext } from '../core/context.ts';
import type { ReadOptions, ResourceProvider } from '../core/provider.ts';
import { type GitOptions, gitProvider } from '../providers/git/index.ts';
import { gitIn } from './git-fixture.ts';
import { drainBody, EVERYTHING } from './observe.ts';

export interface Scene extends AsyncDisposable {
  readonly directory: string;
  /** Runs git in the repository. @returns what it printed, without the line end */
  git(...args: string[]): string;
  /** The same with standard input. */
  gitWith(input: string | Buffer, ...args: string[]): string;
  write(name: string, content: string | Buffer): Promise<void>;
  /** Commits all files. @returns the id of the commit */
  commit(message: string): string;
  /** Opens a git provider over the repository; it is closed with the scene. */
  open(options?: Partial<GitOptions>): Promise<ResourceProvider>;
}

/** An empty repository with a worktree, on the branch `main`. */
export async function scene(...init: string[]): Promise<Scene> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-git-test-')));
  const opened: ResourceProvider[] = [];
  gitIn(directory, ['init', '--quiet', '--template=', '--initial-branch=main', ...init, '.']);
  const gitWith = (input: string | Buffer, ...args: string[]): string =>
    gitIn(directory, args, input).toString('utf8').replace(/\n$/, '');
  const git = (...args: string[]): string => gitWith('', ...args);
  return {
    directory,
    git,
    gitWith,
    write: (name, content) => writeFile(join(directory, name), content),
    commit(message) {
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '-m', message);
      return git('rev-parse', 'HEAD');
    },
    async open(options) {
      const provider = await gitProvider({ path: directory, ...options });
      opened.push(provider);
      return provider;
    },
    async [Symbol.asyncDispose]() {
      for (const provider of opened) await provider.close?.();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The text of a resource, read with the given options. */
export async function textOf(
  provider: ResourceProvider,
  uri: string,
  want: Partial<ReadOptions> = {},
): Promise<string> {
  return Buffer.from(await bytesOf(provider, uri, want)).toString('utf8');
}

export async function bytesOf(
  provider: ResourceProvider,
  uri: string,
  want: Partial<ReadOptions> = {},
): Promise<Uint8Array> {
  const [body] = await provider.read(uri, { ...EVERYTHING, ...want }, createContext());
  if (body === undefined) throw new Error(`${uri} has no content`);
  return drainBody(body);
}

/** The code of the error with which work fails; a text if it succeeds, or if the error has no code. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
