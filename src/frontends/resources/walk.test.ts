import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS, levelsOf, memoryOf, SMALL, selfSimilar, short, WIDE, walk } from '../../../test/lists/walking.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { walkPage } from './walk.ts';

describe('the walk of a tree', () => {
  it('goes breadth first, in the order of the lists', async () => {
    expect(short((await walk(memoryOf(SMALL))).uris)).toEqual([
      '',
      'a',
      'b',
      'z.txt',
      'a/deep',
      'a/x.txt',
      'b/y.txt',
      'a/deep/er',
      'a/deep/b.txt',
      'a/deep/er/leaf.txt',
    ]);
  });

  it.each([1, 2, 3, 7, 31, 32, 33, 100, 1_000])('is the same in pages of %i', async (pageSize) => {
    const provider = memoryOf(WIDE);
    const expected = await levelsOf(provider);
    const { uris, truncatedBy } = await walk(provider, { pageSize });
    expect(uris).toEqual(expected);
    expect(truncatedBy).toBeUndefined();
  });

  it('is the same in pages of any size, for any tree', async () => {
    const segment = fc.constantFrom('a', 'b', 'c');
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((names) => `${names.join('/')}/leaf`);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { maxLength: 30 }),
        fc.integer({ min: 1, max: 20 }),
        async (paths, pageSize) => {
          const provider = memoryOf(paths);
          expect((await walk(provider, { pageSize })).uris).toEqual(await levelsOf(provider));
        },
      ),
    );
  });

  it('fills its pages, so that they are as few as possible', async () => {
    const provider = memoryOf(WIDE);
    const { uris, pages } = await walk(provider, { pageSize: 10 });
    expect(pages).toBe(Math.ceil(uris.length / 10));
  });

  it('lists a root without children as that root alone', async () => {
    expect(await walk(memoryOf([]))).toMatchObject({ uris: ['memory:///'], pages: 1, truncatedBy: undefined });
  });

  it('ends when its caller aborts [RES-7]', async () => {
    const reason = new Error('The caller is gone');
    const ctx = createContext({ signal: AbortSignal.abort(reason) });
    await expect(walkPage(memoryOf(SMALL), undefined, LIMITS, ctx)).rejects.toBe(reason);
  });
});

describe('the limits of a walk', () => {
  it.each([1, 2, 5, 9])(
    'maxListed of %i counts over all pages, ends the walk, and is named as the reason',
    async (maxListed) => {
      for (const pageSize of [1, 3, 100]) {
        const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxListed, pageSize });
        expect(uris).toHaveLength(maxListed);
        expect(truncatedBy).toBe('maxResources');
      }
    },
  );

  it('maxListed equal to the number of entries does not cut the list', async () => {
    for (const pageSize of [1, 3, 10, 100]) {
      const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxListed: 10, pageSize });
      expect(uris).toHaveLength(10);
      expect(truncatedBy).toBeUndefined();
    }
  });

  it('maxListed equal to the number of entries does not cut the list if only empty containers are left', async () => {
    const provider = selfSimilar((uri) => (uri === 'x:root' ? ['x:a', 'x:b'] : []));
    for (const pageSize of [1, 3, 100]) {
      expect(await walk(provider, { maxListed: 3, pageSize })).toMatchObject({
        uris: ['x:root', 'x:a', 'x:b'],
        truncatedBy: undefined,
      });
    }
  });

  it.each([
    [1, 1],
    [2, 4],
    [3, 7],
    [4, 9],
  ])('a maxDepth of %i shows that many levels, %i entries, and is named as the reason', async (maxDepth, count) => {
    for (const pageSize of [1, 2, 100]) {
      const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxDepth, pageSize });
      expect(uris).toHaveLength(count);
      expect(truncatedBy).toBe('maxDepth');
    }
  });

  it('maxDepth equal to the number of levels does not cut the list', async () => {
    const { uris, truncatedBy } = await walk(memoryOf(SMALL), { maxDepth: 5 });
    expect(uris).toHaveLength(10);
    expect(truncatedBy).toBeUndefined();
  });
});

describe('a walk of a tree that changes between its pages', () => {
  it('lists each entry that is there all the time exactly once, whatever is added and removed', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const path = fc
      .array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 })
      .map((segments) => `${segments.join('/')}/leaf`);
    const change = fc.record({ path, create: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { minLength: 1, maxLength: 25 }),
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 6 }),
        async (paths, changes, pageSize) => {
          const provider = memoryOf(paths);
          const present = new Set(paths);
          const existing = (): Set<string> =>
            new Set(
              [...present].flatMap((leaf) => leaf.split('/').map((_, depth, all) => all.slice(0, depth + 1).join('/'))),
            );
          let staying = existing();
          const { uris } = await walk(provider, { pageSize }, (page) => {
            for (const { path: leaf, create } of changes[page - 1] ?? []) {
              if (create) provider.set(leaf, { text: 'new' });
              else provider.delete(leaf);
              if (create) present.add(leaf);
              else present.delete(leaf);
              const now = existing();
              staying = new Set([...staying].filter((each) => now.has(each)));
            }
          });
          const shown = short(uris);
          for (const each of staying)
            expect(
              shown.filter((one) => one === each),
              each,
            ).toHaveLength(1);
        },
      ),
    );
  });

  it('continues after the entry at which it stopped, even if that entry is gone', async () => {
    const provider = memoryOf(['a', 'b', 'c', 'd']);
    const { uris } = await walk(provider, { pageSize: 3 }, () => void provider.delete('b'));
    expect(short(uris)).toEqual(['', 'a', 'b', 'c', 'd']);
  });

  it('leaves out a container that has vanished since it was listed', async () => {
    const provider = memoryOf(['a/one', 'b/two', 'c/three']);
    const { uris, truncatedBy } = await walk(provider, { pageSize: 4 }, () => void provider.delete('b/two'));
    expect(short(uris)).toEqual(['', 'a', 'b', 'c', 'a/one', 'c/three']);
    expect(truncatedBy).toBeUndefined();
  });
});

describe('a walk that meets an error', () => {
  const failing = (uri: string | undefined, code: ResourceErrorCode): ResourceProvider => {
    const provider = memoryOf(['a/one', 'b/two', 'c/three']);
    return wrapProvider(provider, {
      async list(asked, page, ctx) {
        if (asked === uri) throw new ResourceError(code, 'As told', { uri: asked });
        return provider.list(asked, page, ctx);
      },
    });
  };

  it.each<ResourceErrorCode>(['denied', 'not-found', 'not-listable'])(
    '%s: skips that container and goes on',
    async (code) => {
      const { uris } = await walk(failing('memory:///b', code));
      expect(short(uris)).toEqual(['', 'a', 'b', 'c', 'a/one', 'c/three']);
    },
  );

  it.each<ResourceErrorCode>(['unavailable', 'timeout', 'limited', 'internal', 'invalid'])(
    '%s: fails with that error, since a shorter list would look complete',
    async (code) => {
      await expect(walk(failing('memory:///b', code))).rejects.toMatchObject({ code });
    },
  );

  it('at the roots: fails with any error', async () => {
    await expect(walk(failing(undefined, 'denied'))).rejects.toMatchObject({ code: 'denied' });
  });
});

describe('a position', () => {
  it('is JSON whose size grows only with the depth of the tree', async () => {
    const children = Array.from({ length: 200 }, (_, index) => `x:${index}`);
    const maxDepth = 4;
    const { positions } = await walk(
      selfSimilar(() => children),
      { maxListed: 45_000, maxDepth, pageSize: 997 },
    );
    expect(positions.length).toBeGreaterThan(40);
    for (const position of positions) {
      expect(JSON.parse(position)).toMatchObject({ frames: expect.any(Array), level: expect.any(Number) });
      // At most 32 containers and one cursor of each level on the way, of some 20 characters each.
      expect(position.length).toBeLessThan(33 * maxDepth * 30);
    }
  });
});
