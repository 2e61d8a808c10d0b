import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scene } from '../../testing/git-scene.ts';
import type { Git } from './command.ts';
import { createPacked, createRefs, type Refs } from './refs.ts';
import { locate } from './repository.ts';

const { signal } = new AbortController();

async function refsIn(directory: string, asked: boolean): Promise<Refs> {
  const place = await locate(directory);
  const slots = { take: async () => () => {} };
  const git: Git = { program: 'git', directory: place.gitDirectory, version: [2, 39], timeoutMs: 10_000, slots };
  return createRefs(git, place, asked, createPacked());
}

it.each([
  ['read from its file', false],
  ['asked of git, as with references in tables', true],
])('HEAD is %s, at a branch, detached, and at a missing branch', async (_, asked) => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  const commit = place.commit('First');
  const refs = await refsIn(place.directory, asked);
  expect(await refs.head(signal)).toBe(commit);
  place.git('checkout', '--quiet', '--detach');
  expect(await refs.head(signal)).toBe(commit);
  place.git('symbolic-ref', 'HEAD', 'refs/heads/unborn');
  expect(await refs.head(signal)).toBeUndefined();
});

it('a reference whose file cannot be read is unavailable, and not the older, packed one', async () => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  const commit = place.commit('First');
  place.git('branch', 'side');
  place.git('pack-refs', '--all');
  const refs = await refsIn(place.directory, false);
  expect(await refs.find('refs/heads/side', signal)).toBe(commit);
  await symlink('side', join(place.directory, '.git/refs/heads/side'));
  await expect(refs.find('refs/heads/side', signal)).rejects.toMatchObject({ code: 'unavailable' });
});

it('a folder in the place of a reference, or above one, is no reference', async () => {
  await using place = await scene();
  await place.write('a.txt', 'one\n');
  place.commit('First');
  await mkdir(join(place.directory, '.git/refs/heads/empty'));
  const refs = await refsIn(place.directory, false);
  for (const name of ['refs/heads/empty', 'refs/heads/main/below', 'refs/heads/none', `refs/heads/${'x'.repeat(300)}`])
    expect(await refs.find(name, signal)).toBeUndefined();
});
