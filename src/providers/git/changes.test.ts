/** A diff leaves out each file that exists at one of the two revisions where the caller may not read it. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { codeOf, type Scene, scene } from '../../testing/git-scene.ts';
import { drainBody, EVERYTHING } from '../../testing/observe.ts';

describe('a diff of files that a caller may read, beside one that the caller may not read', () => {
  // The longest path that a file system takes has 4,095 bytes.
  const folder = Array.from({ length: 14 }, (_, at) => String(at).padEnd(250, 'x')).join('/');

  it.runIf(process.platform === 'linux').each([
    ['too many of them', folder, 1_100, 'too-large'],
    ['too long paths of them in all', folder, 990, 'too-large'],
    ['as many short paths', 'd', 990, 'nothing was refused'],
    ['few long paths', folder, 10, 'nothing was refused'],
  ])('is given or refused by its size: %s', async (_, inside, count, code) => {
    await using place = await scene();
    await place.write('denied.txt', 'x');
    await mkdir(join(place.directory, inside), { recursive: true });
    for (let at = 0; at < count; at++) await place.write(join(inside, String(at)), 'x');
    place.commit('All');
    const provider = await place.open();
    const ctx = createContext({ may: async (_operation, uri) => !uri.endsWith('denied.txt') });
    expect(await codeOf(provider.read('git:///diff/HEAD', EVERYTHING, ctx))).toBe(code);
    expect(await codeOf(provider.read('git:///diff/HEAD/denied.txt', EVERYTHING, createContext()))).toContain(
      'nothing',
    );
  });
});

describe('a file that a caller may not read at one revision', () => {
  let place: Scene;
  let provider: ResourceProvider;
  let base = '';
  let target = '';
  beforeAll(async () => {
    place = await scene();
    await mkdir(join(place.directory, 'd'));
    await place.write('d/kept.txt', 'OLD\n');
    await place.write('gone.txt', 'GONE\n');
    await place.write('open.txt', 'one\n');
    await place.write('turned', 'FILE\n');
    base = place.commit('First');
    await place.write('d/kept.txt', 'NEW\n');
    await place.write('d/come.txt', 'COME\n');
    await place.write('open.txt', 'two\n');
    await rm(join(place.directory, 'gone.txt'));
    await rm(join(place.directory, 'turned'));
    await mkdir(join(place.directory, 'turned'));
    await place.write('turned/inside.txt', 'INSIDE\n');
    target = place.commit('Second');
    place.git('branch', 'before', base);
    provider = await place.open();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  /** Reads a document as a caller who may not read the given paths, each after `base` or `target`. */
  async function read(uri: string, ...denied: readonly string[]): Promise<string> {
    const kept = new Set(denied.map((at) => `git:///commits/${at.replace('base', base).replace('target', target)}`));
    const ctx = createContext({ may: async (_operation, native) => !kept.has(native) });
    const [body] = await provider.read(uri, EVERYTHING, ctx);
    return body === undefined ? '' : Buffer.from(await drainBody(body)).toString('utf8');
  }

  it.each(['diff/HEAD', 'compare/branches/before/HEAD', 'diff/HEAD/d', 'diff/HEAD/d/kept.txt'])(
    'is not in %s, on either side',
    async (view) => {
      for (const side of ['base', 'target']) {
        const diff = await read(`git:///${view}`, `${side}/d/kept.txt`);
        expect(diff, side).not.toMatch(/OLD|NEW|kept/);
        if (view.endsWith('/HEAD')) expect(diff).toContain('+two');
      }
      expect(await read(`git:///${view}`, 'base/d/come.txt')).toContain('-OLD\n+NEW\n');
    },
  );

  it('is not in the comparison in reverse', async () => {
    for (const side of ['base', 'target'])
      expect(await read('git:///compare/HEAD/branches/before', `${side}/d/kept.txt`)).not.toMatch(/OLD|NEW|kept/);
  });

  it('is not in the document of the commit', async () => {
    for (const side of ['base', 'target'])
      expect(await read('git:///commit/HEAD', `${side}/d/kept.txt`)).not.toContain('kept');
  });

  it('is left out if that revision has it, and shown if not: an added file, and a removed one', async () => {
    const whole = await read('git:///diff/HEAD', 'base/d/come.txt', 'target/gone.txt');
    expect(whole).toContain('+COME');
    expect(whole).toContain('-GONE');
    const less = await read('git:///diff/HEAD', 'target/d/come.txt', 'base/gone.txt');
    expect(less).not.toMatch(/COME|GONE/);
    expect(less).toContain('-OLD\n+NEW\n');
  });

  it('is not in a diff in which its folder takes the place of a file', async () => {
    expect(await read('git:///diff/HEAD', 'target/turned/inside.txt')).not.toContain('INSIDE');
    expect(await read('git:///diff/HEAD/turned', 'target/turned/inside.txt')).not.toContain('INSIDE');
    expect(await read('git:///compare/HEAD/branches/before', 'target/turned/inside.txt')).not.toContain('INSIDE');
    const other = await read('git:///diff/HEAD', 'base/turned');
    expect(other).toContain('+INSIDE');
    expect(other).not.toContain('FILE');
  });
});
