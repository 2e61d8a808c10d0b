import { describe, expect, it } from 'vitest';
import { WINDOW_META_KEY } from '../protocol/meta.ts';
import { itemIn } from './contents.ts';

const URI = 'notes:///a.txt';

const windowOf = (window: unknown) =>
  itemIn({ uri: URI, text: 'abc', _meta: { [WINDOW_META_KEY]: window } }, URI)?.window;

describe('the window of an item', () => {
  it('is the one that the server sends', () => {
    expect(windowOf({ offset: 2, length: 3, total: 9 })).toEqual({ offset: 2, length: 3, total: 9, cutBy: 'server' });
  });

  it.each([
    ['null', null],
    ['a negative offset', { offset: -1, length: 3 }],
    ['an offset with a fraction', { offset: 0.5, length: 3 }],
    ['a length that is no number', { offset: 0, length: '3' }],
    ['a length beyond whole numbers', { offset: 0, length: 1e300 }],
  ])('is undefined for %s', (_what, window) => {
    expect(windowOf(window)).toBeUndefined();
  });

  it('has no total where the server sends an invalid one', () => {
    expect(windowOf({ offset: 2, length: 3, total: -9 })).toEqual({ offset: 2, length: 3, cutBy: 'server' });
  });
});
