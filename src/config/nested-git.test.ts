/** Repositories in a folder in which others write: nothing of theirs is executed, nothing outside of the folder is shown. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createContext } from '../core/context.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { codeOf, type Scene, scene, textOf } from '../testing/git-scene.ts';
import { listAll } from '../testing/observe.ts';
import { nestedFiles } from './nested.ts';

const ctx = createContext();
const SECRET = 'nobody may see this';

/** A folder with a repository of one commit, and what it serves. */
async function served(options: Parameters<typeof nestedFiles>[0] | object = {}) {
  const place = await scene();
  await place.write('a.txt', 'one\n');
  await place.write('.gitattributes', '* diff=evil filter=evil\n');
  place.commit('First');
  const provider = await nestedFiles({ path: place.directory, ...options }, ['git']);
  const end = async (): Promise<void> => {
    await provider.close?.();
    await place[Symbol.asyncDispose]();
  };
  return {
    place,
    provider,
    git: (...names: string[]) => join(place.directory, '.git', ...names),
    [Symbol.asyncDispose]: end,
  };
}

/** A repository elsewhere with a secret in it: loose, or packed. */
async function elsewhere(packed: boolean): Promise<Scene & { readonly commit: string }> {
  const place = await scene();
  await place.write('secret.txt', SECRET);
  const oid = place.commit(SECRET);
  if (packed) place.git('gc', '--quiet');
  return Object.assign(place, { commit: oid }) as never;
}

const uris = async (provider: ResourceProvider, uri: string): Promise<string[]> =>
  (await listAll(provider, uri)).map((each) => each.uri);

const WAYS = [
  'HEAD/a.txt',
  'diff/HEAD',
  'compare/HEAD/branches/main',
  'commit/HEAD',
  'blame/HEAD/a.txt',
  'HEAD/secret.txt',
];

/** Returns everything that is shown of a repository, errors included. */
async function everything(provider: ResourceProvider, ways: readonly string[] = WAYS): Promise<string> {
  const said: string[] = [];
  const ask = async (work: () => Promise<unknown>): Promise<void> => {
    said.push(JSON.stringify(await work().catch((error: unknown) => String(error))));
  };
  for (const way of ['', '/HEAD', '/commits']) await ask(() => uris(provider, `file:///.git${way}`));
  for (const way of ways) await ask(() => textOf(provider, `file:///.git/${way}`));
  await ask(async () => {
    for await (const match of provider.search?.({ pattern: 'o', literal: true, uri: 'file:///.git' }, ctx) ?? [])
      said.push(match.uri);
  });
  return said.join('\n');
}

describe('a repository in a folder in which others write', () => {
  it('runs no program and reads no file that its configuration names', async () => {
    await using folder = await served();
    await using outside = await scene();
    const [canary, run, secret] = ['canary', 'run', 'secret'].map((name) => join(outside.directory, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(secret, `${SECRET}\n`);
    await writeFile(run, `#!/bin/sh\ntouch ${canary}\ncat ${secret}\n`, { mode: 0o755 });
    const config = `[core]\n\tfsmonitor = ${run}\n\thooksPath = ${run}\n\tpager = ${run}\n\tworktree = /\n\tattributesFile = ${secret}
[diff]\n\texternal = ${run}\n[diff "evil"]\n\tcommand = ${run}\n\ttextconv = ${run}\n[filter "evil"]\n\tsmudge = ${run}
[alias]\n\tcat-file = !${run}\n[include]\n\tpath = ${secret}\n[blame]\n\tignoreRevsFile = ${secret}
[remote "origin"]\n\turl = ext::${run}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n[extensions]\n\tpartialClone = origin\n`;
    await appendFile(folder.git('config'), config);
    await mkdir(folder.git('hooks'), { recursive: true });
    for (const hook of ['reference-transaction', 'fsmonitor-watchman']) await symlink(run, folder.git('hooks', hook));
    const said = await everything(folder.provider);
    expect(said).toContain('one');
    expect(said).not.toContain(SECRET);
    expect(existsSync(canary)).toBe(false);
  });

  it.each([false, true])('shows no objects from elsewhere, linked from the start, packed: %s', async (packed) => {
    await using outside = await elsewhere(packed);
    const objects = join(outside.directory, '.git', 'objects');
    const ways: ((git: (...names: string[]) => string) => Promise<void>)[] = [
      async (git) => {
        await rm(git('objects'), { recursive: true });
        await symlink(objects, git('objects'));
      },
      async (git) => writeFile(git('objects', 'info', 'alternates'), `${objects}\n`),
      async (git) => {
        for (const name of await readdir(objects)) {
          await rm(git('objects', name), { recursive: true, force: true });
          await symlink(join(objects, name), git('objects', name));
        }
      },
      async (git) => {
        for (const name of await readdir(objects)) {
          await mkdir(git('objects', name), { recursive: true });
          for (const file of await readdir(join(objects, name)))
            if (name !== 'info') await symlink(join(objects, name, file), git('objects', name, file));
        }
      },
    ];
    for (const prepare of ways) {
      await using folder = await served();
      await prepare(folder.git);
      await writeFile(folder.git('refs', 'heads', 'main'), `${outside.commit}\n`);
      expect(await everything(folder.provider, ['HEAD/secret.txt', 'diff/HEAD'])).not.toContain(SECRET);
      expect(await codeOf(listAll(folder.provider, 'file:///.git'))).not.toBeUndefined();
      expect((await uris(folder.provider, 'file:///')).at(0)).toBe('file:///a.txt');
    }
  });

  it.each([false, true])('shows no objects from elsewhere, linked while it is open, packed: %s', async (packed) => {
    await using outside = await elsewhere(packed);
    await using folder = await served();
    if (packed) folder.place.git('gc', '--quiet');
    expect(await everything(folder.provider)).toContain('one');
    const objects = join(outside.directory, '.git', 'objects');
    // Git looks in the new folder next, which has the files of the other repository.
    await rename(folder.git('objects'), folder.git('objects-before'));
    await mkdir(folder.git('objects'));
    for (const name of await readdir(objects)) await symlink(join(objects, name), folder.git('objects', name));
    expect(await textOf(folder.provider, 'file:///.git/HEAD/a.txt')).toBe('one\n');
    await writeFile(folder.git('refs', 'heads', 'main'), `${outside.commit}\n`);
    expect(await everything(folder.provider)).not.toContain(SECRET);
    await rm(folder.git('objects'), { recursive: true });
    await symlink(objects, folder.git('objects'));
    expect(await codeOf(folder.provider.metadata('file:///.git/HEAD/a.txt', ctx))).toBe('not-found');
    await rm(folder.git('objects'));
    await rename(folder.git('objects-before'), folder.git('objects'));
    // Now the folder of the repository itself leads elsewhere.
    await rename(folder.git(), join(folder.place.directory, 'before'));
    await symlink(join(outside.directory, '.git'), folder.git());
    expect(await everything(folder.provider)).not.toContain(SECRET);
    expect(await uris(folder.provider, 'file:///')).not.toContain('file:///.git');
  });

  it('shows no references that are links, or that do not lead to a commit', async () => {
    await using folder = await served();
    await using outside = await scene();
    const secret = join(outside.directory, 'secret');
    await writeFile(secret, `${'a'.repeat(40)}\n`);
    await symlink(secret, folder.git('refs', 'heads', 'linked'));
    await writeFile(folder.git('refs', 'heads', 'up'), 'ref: refs/../../../secret\n');
    await writeFile(folder.git('refs', 'heads', 'around'), 'ref: refs/heads/around\n');
    await writeFile(folder.git('refs', 'heads', 'same'), 'ref: refs/heads/main\n');
    expect(await uris(folder.provider, 'file:///.git/branches')).toEqual([
      'file:///.git/branches/main',
      'file:///.git/branches/same',
    ]);
    await rm(folder.git('HEAD'));
    await symlink(secret, folder.git('HEAD'));
    expect(await uris(folder.provider, 'file:///')).not.toContain('file:///.git');
  });
});

describe('a repository in a folder', () => {
  it('is shown as soon as it is a repository, without files before the first commit', async () => {
    await using place = await scene();
    await rename(join(place.directory, '.git'), join(place.directory, 'later'));
    const provider = await nestedFiles({ path: place.directory }, ['git']);
    const root = (): Promise<string[]> => uris(provider, 'file:///');
    await writeFile(join(place.directory, '.git'), `gitdir: ${join(place.directory, 'later')}\n`);
    expect(await root()).not.toContain('file:///.git');
    await rm(join(place.directory, '.git'));
    await mkdir(join(place.directory, '.git'));
    await writeFile(join(place.directory, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    // Several times, since a page that is listed again is kept.
    for (let round = 0; round < 3; round++) expect(await root()).not.toContain('file:///.git');
    expect(await codeOf(provider.metadata('file:///.git', ctx))).toBe('not-found');
    for (const name of ['objects', 'refs']) await mkdir(join(place.directory, '.git', name));
    expect((await root()).at(-1)).toBe('file:///.git');
    expect(await uris(provider, 'file:///.git')).toEqual(
      ['branches', 'tags', 'commits'].map((name) => `file:///.git/${name}`),
    );
    await provider.close?.();
  });

  it('is on a page of its own where the last one is full, and on none where it is left out', async () => {
    await using folder = await served();
    const first = await folder.provider.list('file:///', { limit: 1 }, ctx);
    expect(first.resources.map(({ name }) => name)).toEqual(['a.txt']);
    const second = await folder.provider.list('file:///', { limit: 1, cursor: first.nextCursor }, ctx);
    expect(second.resources.map(({ name }) => name)).toEqual(['.git']);
    expect(second.nextCursor).toBeUndefined();
    const path = folder.place.directory;
    for (const options of [{ path, exclude: ['.git'] }, { path: join(path, 'a.txt') }]) {
      const provider = await nestedFiles(options, ['git']);
      expect(await uris(provider, 'file:///')).toEqual(['file:///a.txt']);
      expect(await codeOf(provider.metadata('file:///.git/HEAD/a.txt', ctx))).toBe('not-found');
      await provider.close?.();
    }
  });

  it('takes the place of its files where those are shown', async () => {
    await using folder = await served({ hidden: true, vcs: true });
    expect(await uris(folder.provider, 'file:///')).toEqual(
      ['.git', '.gitattributes', 'a.txt'].map((name) => `file:///${name}`),
    );
    expect(await codeOf(folder.provider.metadata('file:///.git/config', ctx))).toBe('not-found');
    const found: string[] = [];
    for await (const { uri } of folder.provider.search?.({ glob: '**', literal: false }, ctx) ?? []) found.push(uri);
    expect(found.sort()).toEqual(['file:///.gitattributes', 'file:///a.txt']);
  });

  it('shows no tags of files and trees, which have lost their paths', async () => {
    await using folder = await served();
    folder.place.git('tag', 'file', 'HEAD:a.txt');
    folder.place.git('tag', 'tree', 'HEAD^{tree}');
    folder.place.git('tag', '-a', '-m', 'Of a commit', 'v1');
    expect(await uris(folder.provider, 'file:///.git/tags')).toEqual(['file:///.git/tags/v1']);
    for (const uri of ['file:///.git/tags/file', 'file:///.git/tags/tree/a.txt'])
      expect(await codeOf(folder.provider.metadata(uri, ctx))).toBe('not-found');
  });

  it('has large objects, and references with slashes, packed and loose', async () => {
    await using folder = await served();
    const large = 'a line of text that is long enough\n'
      .repeat(40_000)
      .split('')
      .map((letter, at) => (at % 7 ? letter : String(at)))
      .join('');
    await folder.place.write('large.txt', large);
    folder.place.commit('Large');
    folder.place.git('branch', 'work/one');
    folder.place.git('pack-refs', '--all');
    folder.place.git('branch', 'work/two');
    expect(await textOf(folder.provider, 'file:///.git/branches/work~2Ftwo/large.txt')).toBe(large);
    folder.place.git('branch', '-D', 'work/one');
    expect(await uris(folder.provider, 'file:///.git/branches')).toEqual(
      ['main', 'work~2Ftwo'].map((name) => `file:///.git/branches/${name}`),
    );
    folder.place.git('checkout', '--quiet', '--detach');
    expect(await textOf(folder.provider, 'file:///.git/HEAD/a.txt')).toBe('one\n');
  });

  it('cannot be listed without a temporary folder for the copies of its files, and can be once there is one', async () => {
    await using folder = await served();
    vi.stubEnv('TMPDIR', folder.git('none'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await codeOf(uris(folder.provider, 'file:///.git'))).toBe('unavailable');
    vi.unstubAllEnvs();
    expect(await uris(folder.provider, 'file:///.git/HEAD')).toContain('file:///.git/HEAD/a.txt');
  });

  it('is closed with the folder, and leaves nothing open', async () => {
    // Other tests use the usual temporary folder at the same time.
    await using own = await scene();
    vi.stubEnv('TMPDIR', own.directory);
    onTestFinished(() => void vi.unstubAllEnvs());
    const ours = async (): Promise<number> => (await readdir(own.directory)).length;
    const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
    const before = [await ours(), await descriptors()];
    for (let round = 0; round < 2; round++) {
      await using folder = await served();
      folder.place.git('gc', '--quiet');
      const watch = await folder.provider.watch?.('file:///.git/HEAD', () => {}, ctx);
      expect(await everything(folder.provider)).toContain('one');
      await watch?.[Symbol.asyncDispose]();
    }
    expect(await ours()).toBe(before[0]);
    expect(await descriptors()).toBeLessThanOrEqual((before[1] ?? 0) + 1);
  });
});
