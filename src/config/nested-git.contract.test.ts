/** A bare repository in a folder is a tree like any other, below its own URI. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { treeUri } from '../core/uri.ts';
import { segmentOf, toBytes } from '../providers/git/names.ts';
import { checkLaw } from '../testing/check-law.ts';
import type { Leaves, ProviderFixture } from '../testing/fixture.ts';
import { gitIn, importStream } from '../testing/git-fixture.ts';
import { PROVIDER_LAWS } from '../testing/provider-contract.ts';
import { nestedFiles } from './nested.ts';

async function fixture(seed: Leaves): Promise<ProviderFixture> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'vitrine-contract-')));
  const repository = join(folder, 'x.git');
  gitIn(folder, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', 'x.git']);
  const change = (files: Leaves, removed: readonly string[] = [], from?: string): void => {
    gitIn(repository, ['fast-import', '--quiet'], importStream('refs/heads/main', files, removed, from));
  };
  change(seed);
  const provider = await nestedFiles({ path: folder, name: 'contract', hidden: true, credentials: true, vcs: true }, [
    'git',
  ]);
  const inTree = (path: string): string => path.slice('x.git/HEAD/'.length);
  const again = 'refs/heads/main^0';
  return {
    provider,
    leaves: new Map([...seed].map(([path, bytes]) => [`x.git/HEAD/${path}`, bytes])),
    uriOf: (path) => treeUri('file', path === '' ? [] : path.split('/').map((name) => segmentOf(toBytes(name)))),
    hierarchical: true,
    mutate: {
      create: (path, text) => change(new Map([[inTree(path), Buffer.from(text)]]), [], again),
      replace: (path, text) => change(new Map([[inTree(path), Buffer.from(text)]]), [], again),
      remove: (path) => change(new Map(), [inTree(path)], again),
    },
    async close() {
      await provider.close?.();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A few paths of each kind, since each law makes a repository. */
const SOME = /^(?:readme|sizes|many\/(?:entry-0[0-3]|folder-0)|odd\/(?:with|%2F|~|it|日))/;

/** The laws that depend on the repository being in a folder: about names, lists, kept pages, completion, changes and closing. */
const LAWS = [
  /^a list describes each entry/,
  /^pages of any size/,
  /^every listed URI is described/,
  /^a slash at the end/,
  /^list, metadata and read refuse/,
  /^an escape is decoded once/,
  /^`listAgain` says no once/,
  /^each completed value/,
  /^creation, change, replacement/,
  /^`close` may be called twice/,
];

describe('a repository in a folder', () => {
  it.each(PROVIDER_LAWS.filter(({ name }) => LAWS.some((law) => law.test(name))))('$name', async (law) => {
    const verdict = await checkLaw(law, (seed) => fixture(new Map([...seed].filter(([path]) => SOME.test(path)))));
    expect(verdict).toEqual({ kind: 'held' });
  });
});
