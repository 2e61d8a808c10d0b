/** Repositories of every shape: SHA-256, empty, unborn, detached, shallow, with links, submodules and odd references. */
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import { codeOf, scene, textOf } from '../../testing/git-scene.ts';
import { listAll, urisOf } from '../../testing/observe.ts';
import { gitProvider } from './index.ts';

const ctx = createContext();

it('SHA-256 is read like SHA-1', async () => {
  await using place = await scene('--object-format=sha256');
  await place.write('a.txt', 'one\n');
  const commit = place.commit('First');
  const provider = await place.open();
  expect(commit).toHaveLength(64);
  expect(urisOf(await listAll(provider, 'git:///commits'))).toEqual([`git:///commits/${commit}`]);
  expect(await textOf(provider, `git:///commits/${commit}/a.txt`)).toBe('one\n');
  expect(await textOf(provider, 'git:///blame/HEAD/a.txt')).toContain('one');
  expect(await textOf(provider, 'git:///diff/HEAD')).toContain('+one');
});

it('an empty repository has branches and tags without entries; HEAD exists from the first commit on', async () => {
  await using place = await scene();
  const provider = await place.open();
  expect(urisOf(await listAll(provider, 'git:///'))).toEqual(['git:///branches', 'git:///tags', 'git:///commits']);
  for (const uri of ['git:///branches', 'git:///tags', 'git:///commits'])
    expect(await listAll(provider, uri)).toEqual([]);
  expect(await codeOf(provider.metadata('git:///HEAD', ctx))).toBe('not-found');
  for await (const _match of provider.search?.({ pattern: 'x', literal: true }, ctx) ?? []) expect.unreachable();
  const told = new Promise<unknown>(
    (resolve) => void provider.watch?.('git:///HEAD', resolve, ctx).then(() => place.commit('First')),
  );
  expect(await told).toEqual({ kind: 'updated', uri: 'git:///HEAD' });
  expect(await listAll(provider, 'git:///HEAD')).toEqual([]);
});

it('HEAD may be detached, or at a branch that does not exist yet', async () => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  const commit = place.commit('First');
  place.git('checkout', '--quiet', '--detach');
  const provider = await place.open();
  expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\n');
  place.git('symbolic-ref', 'HEAD', 'refs/heads/unborn');
  expect(await codeOf(provider.metadata('git:///HEAD', ctx))).toBe('not-found');
  expect(await textOf(provider, `git:///commits/${commit}/a.txt`)).toBe('one\n');
});

it('references are found packed, loose, and through symbolic references', async () => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  place.commit('First');
  place.git('branch', 'deep/er/one');
  place.git('tag', '-a', '-m', 'x', 'v1');
  place.git('-c', 'advice.nestedTag=false', 'tag', '-a', '-m', 'a tag of a tag', 'v1-again', 'v1');
  place.git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main');
  place.git('pack-refs', '--all');
  await place.write('a.txt', 'two\n');
  place.commit('Second');
  const provider = await place.open();
  for (const [uri, text] of [
    ['git:///branches/deep~2Fer~2Fone/a.txt', 'one\n'],
    ['git:///tags/v1-again/a.txt', 'one\n'],
    ['git:///branches/alias/a.txt', 'two\n'],
  ] as const)
    expect(await textOf(provider, uri)).toBe(text);
});

it('the oldest commit of a shallow repository can be read, and has no diff', async () => {
  await using origin = await scene();
  await origin.write('a.txt', 'one\n');
  origin.commit('First');
  await origin.write('a.txt', 'two\n');
  const second = origin.commit('Second');
  await using place = await scene();
  const clone = join(place.directory, 'clone');
  place.git('clone', '--quiet', '--depth=1', pathToFileURL(origin.directory).href, clone);
  const provider = await gitProvider({ path: clone });
  try {
    expect(urisOf(await listAll(provider, 'git:///commits'))).toEqual([`git:///commits/${second}`]);
    expect(await codeOf(provider.read('git:///diff/HEAD', { maxBytes: 1e6, maxChildren: 1 }, ctx))).toBe('unavailable');
    expect(await textOf(provider, 'git:///commit/HEAD')).toContain('Second');
  } finally {
    await provider.close?.();
  }
});

it('a path in an unreadable folder does not count as missing in the views of changes', async () => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  place.commit('First');
  await mkdir(join(place.directory, 'd'));
  for (let index = 0; index < 100; index++) await place.write(`d/${index}.txt`, `${index}\n`);
  place.commit('Second');
  place.git('branch', 'first', 'HEAD~1');
  const views = ['git:///diff/HEAD/d/1.txt', 'git:///compare/branches/first/HEAD/d/1.txt'];
  const narrow = await place.open({ maxTreeBytes: 200 });
  for (const uri of views) expect(await codeOf(narrow.metadata(uri, ctx)), uri).toBe('too-large');
  const tree = place.git('rev-parse', 'HEAD:d');
  await rm(join(place.directory, '.git/objects', tree.slice(0, 2), tree.slice(2)));
  const damaged = await place.open();
  for (const uri of views) expect(await codeOf(damaged.metadata(uri, ctx)), uri).toBe('unavailable');
  expect(await codeOf(damaged.metadata('git:///diff/HEAD/nothing', ctx))).toBe('not-found');
});

it('a symbolic link is the text of its target; a submodule is named and not entered', async () => {
  await using place = await scene();
  await symlink('/etc/passwd', join(place.directory, 'link'));
  await mkdir(join(place.directory, 'folder'));
  await place.write('folder/a.txt', 'one\n');
  place.commit('First');
  const hash = '1234567890123456789012345678901234567890';
  place.git('update-index', '--add', '--cacheinfo', `160000,${hash},module`);
  place.git('commit', '--quiet', '-m', 'Second');
  const provider = await place.open();
  expect(await textOf(provider, 'git:///HEAD/link')).toBe('/etc/passwd');
  expect(await provider.metadata('git:///HEAD/link', ctx)).toMatchObject({
    mimeType: 'text/plain',
    size: 11,
    _meta: { 'vitrine/git': { mode: '120000' } },
  });
  expect(await codeOf(provider.metadata('git:///HEAD/link/a', ctx))).toBe('not-found');
  expect(await textOf(provider, 'git:///HEAD/module')).toBe(`Subproject commit ${hash}\n`);
  expect(await codeOf(provider.list('git:///HEAD/module', { limit: 1 }, ctx))).toBe('not-listable');
});

it('a linked worktree has its own HEAD and the branches of all', async () => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  place.commit('First');
  place.git('worktree', 'add', '--quiet', '-b', 'other', 'linked');
  const provider = await gitProvider({ path: join(place.directory, 'linked') });
  try {
    expect(urisOf(await listAll(provider, 'git:///branches'))).toEqual([
      'git:///branches/main',
      'git:///branches/other',
    ]);
    expect(await textOf(provider, 'git:///HEAD/a.txt')).toBe('one\n');
  } finally {
    await provider.close?.();
  }
});
