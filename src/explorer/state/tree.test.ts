import { describe, expect, it } from 'vitest';
import { createRoots, isBelow, parentOf, stepsTo } from './tree.ts';

const at = (uri: string) => ({ uri, name: uri });
const ROOTS = [at('docs+file:///'), at('shop+https://shop.test/api')];

describe('the tree', () => {
  it('has as roots the entries that lie below no other', () => {
    const roots = createRoots();
    expect(roots.add(['a+file:///', 'b+file:///', 'a+file:///x', 'b+file:///y/z', 'a+file:///'].map(at))).toBe(2);
    expect(roots.add(['b+file:///y', 'memo:x', 'https://shop.test/a', 'https://shop.test/ab'].map(at))).toBe(3);
    expect(roots.add(['https://shop.test/a/b', 'https://shop.test/a/', 'memo:x'].map(at))).toBe(0);
    expect(roots.all.map(({ uri }) => uri)).toEqual([
      'a+file:///',
      'b+file:///',
      'memo:x',
      'https://shop.test/a',
      'https://shop.test/ab',
    ]);
  });

  it('leads down to a URI, and up from it', () => {
    expect(stepsTo(ROOTS, 'docs+file:///a%20b/c').map(({ uri }) => uri)).toEqual([
      'docs+file:///',
      'docs+file:///a%20b',
      'docs+file:///a%20b/c',
    ]);
    expect(parentOf(ROOTS, 'docs+file:///a')).toBe('docs+file:///');
    expect(parentOf(ROOTS, 'docs+file:///')).toBeUndefined();
    expect(parentOf(ROOTS, 'shop+https://shop.test/api/1')).toBe('shop+https://shop.test/api');
    expect(parentOf(ROOTS, 'memo:x')).toBeUndefined();
    expect(isBelow('docs+file:///ab', 'docs+file:///a')).toBe(false);
  });
});
