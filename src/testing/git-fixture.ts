/** Fixtures for the git provider, each over a real repository that is made for one test. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createContext } from '../core/context.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { treeUri } from '../core/uri.ts';
import type { GitOptions } from '../providers/git/index.ts';
import { gitProvider } from '../providers/git/index.ts';
import { segmentOf, toBytes } from '../providers/git/names.ts';
import type { Leaves, ProviderFixture } from './fixture.ts';

const WHO = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/** Runs git in a repository, with a fixed author and without the configuration of this machine. @returns what git printed */
export function gitIn(directory: string, args: readonly string[], input?: string | Buffer): Buffer {
  const env = { PATH: process.env.PATH, ...WHO };
  return execFileSync('git', [...args], { cwd: directory, env, input: input ?? '', maxBuffer: 1 << 28 });
}

/** A stream for `git fast-import` that makes one commit on `ref`: writes some files and removes others. */
export function importStream(ref: string, files: Leaves, removed: readonly string[] = [], from?: string): Buffer {
  const parts: (string | Buffer)[] = [
    `commit ${ref}\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 4\nWork\n`,
  ];
  if (from !== undefined) parts.push(`from ${from}\n`);
  for (const path of removed) parts.push(`D ${quoted(path)}\n`);
  for (const [path, bytes] of files) {
    parts.push(`M 100644 inline ${quoted(path)}\ndata ${bytes.byteLength}\n`, Buffer.from(bytes), '\n');
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

/** A path in quotes, in which `fast-import` accepts any bytes. */
export const quoted = (path: string): string =>
  `"${[...Buffer.from(path)].map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`)).join('')}"`;

/** The end of the import: a tag on the commit. */
const TAG = Buffer.from('reset refs/tags/v1\nfrom refs/heads/main\n\n');

/** The directories of repositories that were made once and are copied for each fixture, by the paths of their files. */
const templates = new Map<string, string>();

/** Removes the repositories that fixtures were copied from. Call it after the last fixture. */
export function removeTemplates(): void {
  for (const directory of templates.values()) rmSync(directory, { recursive: true, force: true });
  templates.clear();
}

function templateOf(wanted: Leaves): string {
  const key = JSON.stringify([...wanted.keys()]);
  const existing = templates.get(key);
  if (existing !== undefined) return existing;
  const directory = realpathSync(mkdtempSync(joinPath(tmpdir(), 'vitrine-contract-')));
  gitIn(directory, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '.']);
  gitIn(directory, ['fast-import', '--quiet'], Buffer.concat([importStream('refs/heads/main', wanted), TAG]));
  templates.set(key, directory);
  return directory;
}

/** A fixture over a bare repository with the wanted leaves in one commit. It shows only HEAD unless the options say otherwise. */
export async function gitFixture(
  wanted: Leaves,
  options: Partial<GitOptions> = {},
  wrap: (inner: ResourceProvider) => ResourceProvider = (inner) => inner,
): Promise<ProviderFixture> {
  const directory = await realpath(await mkdtemp(joinPath(tmpdir(), 'vitrine-contract-')));
  await cp(templateOf(wanted), directory, { recursive: true });
  const shown = { branches: false, tags: false, commits: false };
  const provider = wrap(await gitProvider({ path: directory, name: 'contract', ...shown, ...options }));
  const change = (files: Leaves, removed: readonly string[] = []): void => {
    const stream = importStream('refs/heads/main', files, removed, 'refs/heads/main^0');
    gitIn(directory, ['fast-import', '--quiet'], stream);
  };
  const inTree = (path: string): string => path.slice('HEAD/'.length);
  return {
    provider,
    leaves: new Map([...wanted].map(([path, bytes]) => [`HEAD/${path}`, bytes])),
    uriOf: (path) => treeUri('git', path === '' ? [] : path.split('/').map((name) => segmentOf(toBytes(name)))),
    hierarchical: true,
    mutate: {
      create: (path, text) => change(new Map([[inTree(path), Buffer.from(text)]])),
      replace: (path, text) => change(new Map([[inTree(path), Buffer.from(text)]])),
      remove: (path) => change(new Map(), [inTree(path)]),
    },
    async close() {
      await provider.close?.();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The same with branches, tags and commits, so that each leaf appears under every revision. Its data cannot be changed. */
export async function wholeGitFixture(wanted: Leaves): Promise<ProviderFixture> {
  const fixture = await gitFixture(wanted, { branches: true, tags: true, commits: true });
  const { mutate: _mutate, ...unchanging } = fixture;
  const [commit] = (await fixture.provider.list('git:///commits', { limit: 1 }, createContext())).resources;
  const revisions = ['HEAD', 'branches/main', 'tags/v1', `commits/${commit?.name}`];
  const leaves = revisions.flatMap((revision) =>
    [...wanted].map(([path, bytes]) => [`${revision}/${path}`, bytes] as const),
  );
  return { ...unchanging, leaves: new Map(leaves) };
}
